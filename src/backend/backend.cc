// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.h"

#include <cstdlib>

#include "backend/open_gpu.h"
#include "backend/open_vulkan.h"
#include "base/copy_bytes.h"
#include "base/str.h"

namespace gdn {
namespace {

class CpuBackend final : public Backend {
 public:
  Device device() const override { return {}; }
  MemorySource& memory() override { return HostMemory(); }
  Status Write(void* to_device, const void* from_host, size_t bytes) override {
    CopyBytes(to_device, from_host, bytes);
    return OkStatus();
  }
  Status Read(void* to_host, const void* from_device, size_t bytes) override {
    CopyBytes(to_host, from_device, bytes);
    return OkStatus();
  }
  void Copy(void* to, const void* from, size_t bytes) override { CopyBytes(to, from, bytes); }
  Status Finish() override { return OkStatus(); }
};

}  // namespace

std::string UserCacheFolder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder == '/') {
    return StrCat(folder, "/gdn");
  }
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? StrCat(home, "/.cache/gdn") : "";
}

Result<std::unique_ptr<Backend>> OpenBackend(const Device& device, const BackendOptions& options) {
  if (options.vendor_gemm && FamilyOf(device.type) != KernelFamily::kGpu) {
    return Unsupported(
        StrCat(Name(device.type), ": has no matrix products but ours, want --gemm own"));
  }
  if (device.type == DeviceType::kCpu) return std::unique_ptr<Backend>(new CpuBackend());
  GDN_IF_GPU(if (FamilyOf(device.type) == KernelFamily::kGpu) return OpenGpu(device, options);)
  GDN_IF_VULKAN(if (device.type == DeviceType::kVulkan) return OpenVulkan(device.index, options);)
  return Unsupported(StrCat("this build has no backend for ", Name(device.type)));
}

}  // namespace gdn
