// SPDX-License-Identifier: Apache-2.0
#include "backend/devices.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "backend/open_gpu.h"
#include "backend/open_vulkan.h"
#include "base/log.h"
#include "base/str.h"
#include "base/system_info.h"

namespace gdn {
namespace {

std::string CpuModelName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "CPU";
}

// Why this machine has no Vulkan device, where something stands in the way.
Status WhyNoVulkan() {
  Status status;
  GDN_IF_VULKAN(status = VulkanStatus();)
  return status;
}

// Why there is no device of a vendor's kernels.
Status WhyNone(DeviceType type) {
  Status status = NoGpuKernels(type);
  GDN_IF_GPU(status = GpuDriverStatus(type);)
  return status;
}

// "cuda" and "cuda:1" are.
bool IsOfType(std::string_view spec, DeviceType type) {
  const std::string_view name = Name(type);
  return spec == name || (spec.starts_with(name) && spec.substr(name.size()).starts_with(':'));
}

std::string WhyNot(const DeviceInfo& info) {
  return StrCat(info.name, " (", info.description, ") cannot be used: ", info.why_not);
}

// The first GPU that can be used, else the CPU; the log says what is in the way of a better one.
Device ChooseAuto(const std::vector<DeviceInfo>& devices) {
  const auto usable = [](const DeviceInfo& info) { return info.is_gpu && info.why_not.empty(); };
  const auto chosen = std::ranges::find_if(devices, usable);
  const bool found = chosen != devices.end();
  const auto log = [&](LogLevel level, const std::string& why) {
    Log(level, StrCat(why, "; running on ", found ? chosen->name : "the CPU"));
  };
  if (!found || chosen->device.type == DeviceType::kVulkan) {
    for (const std::string& line : WhatIsMissing()) log(LogLevel::kWarning, line);
  }
  for (auto info = devices.begin(); info != chosen; ++info) {
    if (info->is_gpu) log(LogLevel::kWarning, WhyNot(*info));
  }
  if (found) return chosen->device;
  // Without a loader it is a machine that has no GPU: nothing to warn of.
  if (const Status status = WhyNoVulkan(); !status.ok()) {
    log(status.code() == StatusCode::kNotFound ? LogLevel::kInfo : LogLevel::kWarning,
        status.message());
  }
  return devices.front().device;
}

}  // namespace

std::vector<DeviceInfo> ListDevices() {
  std::vector<DeviceInfo> out = {{.device = {DeviceType::kCpu, 0},
                                  .name = Name(DeviceType::kCpu),
                                  .description = StrCat(CpuModelName(), ", ", NumCores(), " cores"),
                                  .memory_bytes = TotalMemoryBytes()}};
  GDN_IF_GPU(for (DeviceInfo& info : ListGpuDevices()) out.push_back(std::move(info));)
  GDN_IF_VULKAN(for (DeviceInfo& info : ListVulkanDevices()) out.push_back(std::move(info));)
  std::stable_partition(out.begin(), out.end(), [](const DeviceInfo& info) {
    return info.device.type != DeviceType::kEmu;
  });
  return out;
}

size_t AvailableMemoryBytes(const Device& device) {
  if (device.type == DeviceType::kCpu) return AvailableMemoryBytes();
  for (const DeviceInfo& info : ListDevices()) {
    if (info.device.type != device.type || info.device.index != device.index) continue;
    // Memory that is the host's as well has other users.
    const size_t host = AvailableMemoryBytes();
    return info.unified_memory && host != 0 ? std::min(host, info.memory_bytes) : info.memory_bytes;
  }
  return 0;
}

std::vector<std::string> WhatIsMissing() {
  std::vector<std::string> out;
  GDN_IF_GPU(for (const DeviceType type
                  : GpuTypesOfBuild()) {
    const Status status = GpuDriverStatus(type);
    if (!status.ok()) out.push_back(StrCat(Name(type), ": ", status.message()));
  })
  return out;
}

Result<Device> ChooseDevice(std::string_view spec) {
  if (spec == Name(DeviceType::kCpu)) return Device{};
  const std::vector<DeviceInfo> devices = ListDevices();
  if (spec == "auto") return ChooseAuto(devices);
  std::string names;
  std::string why_not;
  for (const DeviceInfo& info : devices) {
    // An emulation is chosen by its whole name: its number says what it is.
    const bool kind = info.device.type != DeviceType::kEmu && spec == Name(info.device.type);
    if ((info.name == spec || kind) && info.why_not.empty()) return info.device;
    if (info.name == spec || kind) {
      StrAppend(why_not, StrCat(why_not.empty() ? "" : "; ", WhyNot(info)));
    }
    StrAppend(names, StrCat(", ", info.name));
  }
  if (!why_not.empty()) return Unsupported(why_not);
  for (const DeviceType type : {DeviceType::kCuda, DeviceType::kRocm}) {
    if (IsOfType(spec, type)) GDN_RETURN_IF_ERROR(WhyNone(type));
  }
  if (spec.starts_with(Name(DeviceType::kVulkan))) GDN_RETURN_IF_ERROR(WhyNoVulkan());
  // "vulkan" is any of its kind.
  GDN_IF_VULKAN(if (devices.size() > 1) StrAppend(names, StrCat(", ", Name(DeviceType::kVulkan)));)
  return InvalidArgument(StrCat("device is ", Quoted(spec), ", want one of auto", names));
}

}  // namespace gdn
