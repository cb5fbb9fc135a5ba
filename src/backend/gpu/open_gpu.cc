// SPDX-License-Identifier: Apache-2.0
#include "backend/open_gpu.h"

#include <algorithm>

#include "backend/gpu/emu/emu_runtime.h"
#include "backend/gpu/gpu_backend.h"
#include "backend/gpu/vendor.h"
#include "base/str.h"
#include "base/system_info.h"

namespace gdn {
namespace {

struct Vendor {
  DeviceType type;
  Result<std::vector<gpu::Caps>> (*list)();
  std::string (*why_not)(const gpu::Caps& caps);
  Result<std::unique_ptr<gpu::Runtime>> (*open)(int index, bool host_can_see_memory);
};

// Those that this build has kernels for.
std::vector<Vendor> Vendors() {
  std::vector<Vendor> out;
  GDN_IF_CUDA(out.push_back(
      {DeviceType::kCuda, gpu::cuda::ListDevices, gpu::cuda::WhyNot, gpu::cuda::Open});)
  GDN_IF_ROCM(out.push_back(
      {DeviceType::kRocm, gpu::rocm::ListDevices, gpu::rocm::WhyNot, gpu::rocm::Open});)
  return out;
}

DeviceInfo InfoOf(const Device& device, const gpu::Caps& caps) {
  return {.device = device,
          .name = StrCat(Name(device.type), ":", device.index),
          .description = StrCat(caps.name, ", ", caps.driver),
          .memory_bytes = caps.memory_bytes,
          .features = {caps.arch, StrCat("warps of ", caps.warp_size),
                       StrCat("shared memory ", HumanBytes(caps.max_shared_bytes)),
                       StrCat(caps.num_processors, " processors")},
          .unified_memory = caps.unified_memory};
}

constexpr int kEmulatedWarps[] = {32, 64};

}  // namespace

std::vector<DeviceInfo> ListGpuDevices() {
  std::vector<DeviceInfo> out;
  for (const Vendor& vendor : Vendors()) {
    const Result<std::vector<gpu::Caps>> devices = vendor.list();
    if (!devices.ok()) continue;
    int index = 0;
    for (const gpu::Caps& caps : *devices) {
      out.push_back(InfoOf({vendor.type, index++}, caps));
      out.back().is_gpu = true;
      out.back().why_not = vendor.why_not(caps);
    }
  }
  for (const int warp : kEmulatedWarps) {
    out.push_back({.device = {DeviceType::kEmu, warp},
                   .name = StrCat(Name(DeviceType::kEmu), ":", warp),
                   .description = "the GPU kernels on this CPU, to check them: very slow",
                   .memory_bytes = TotalMemoryBytes(),
                   .features = {StrCat("warps of ", warp)},
                   .unified_memory = true});
  }
  return out;
}

std::vector<DeviceType> GpuTypesOfBuild() {
  std::vector<DeviceType> out;
  for (const Vendor& vendor : Vendors()) out.push_back(vendor.type);
  return out;
}

Status GpuDriverStatus(DeviceType type) {
  for (const Vendor& vendor : Vendors()) {
    if (vendor.type == type) return vendor.list().status();
  }
  return NoGpuKernels(type);
}

Result<std::unique_ptr<Backend>> OpenGpu(const Device& device, const BackendOptions& options) {
  std::unique_ptr<gpu::Runtime> runtime;
  if (device.type == DeviceType::kEmu) {
    if (std::ranges::find(kEmulatedWarps, device.index) == std::end(kEmulatedWarps)) {
      return InvalidArgument(StrCat("emu: warps of ", device.index, ", want 32 or 64"));
    }
    runtime = gpu::NewEmuRuntime({.warp_size = static_cast<uint32_t>(device.index)}, NumCores());
  } else {
    for (const Vendor& vendor : Vendors()) {
      if (vendor.type != device.type) continue;
      GDN_ASSIGN_OR_RETURN(runtime, vendor.open(device.index, options.host_can_see_memory));
    }
    if (runtime == nullptr) return GpuDriverStatus(device.type);
  }
  auto backend = std::make_unique<gpu::GpuBackend>(std::move(runtime), device.index,
                                                   options.host_can_see_memory);
  if (options.vendor_gemm) GDN_RETURN_IF_ERROR(backend->stream().OpenGemm());
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace gdn
