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

// Why this machine has no device but the CPU, where something stands in the way.
Status GpuStatus() {
  Status status;
  GDN_IF_VULKAN(status = VulkanStatus();)
  return status;
}

}  // namespace

std::vector<DeviceInfo> ListDevices() {
  std::vector<DeviceInfo> out = {{.device = {DeviceType::kCpu, 0},
                                  .name = Name(DeviceType::kCpu),
                                  .description = StrCat(CpuModelName(), ", ", NumCores(), " cores"),
                                  .memory_bytes = TotalMemoryBytes()}};
  GDN_IF_GPU(for (DeviceInfo& info : ListGpuDevices()) out.push_back(std::move(info));)
  GDN_IF_VULKAN(for (DeviceInfo& info : ListVulkanDevices()) out.push_back(std::move(info));)
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

Result<Device> ChooseDevice(std::string_view spec) {
  if (spec == Name(DeviceType::kCpu)) return Device{};
  const std::vector<DeviceInfo> devices = ListDevices();
  if (spec == "auto") {
    for (const DeviceInfo& info : devices) {
      if (info.is_gpu && info.why_not.empty()) return info.device;
      if (info.is_gpu) {
        Log(LogLevel::kWarning, StrCat(info.name, " (", info.description,
                                       ") cannot be used: ", info.why_not, "; running on the CPU"));
      }
    }
    // Without a loader it is a machine that has no GPU: nothing to warn of.
    if (const Status status = GpuStatus(); !status.ok()) {
      Log(status.code() == StatusCode::kNotFound ? LogLevel::kInfo : LogLevel::kWarning,
          StrCat(status.message(), "; running on the CPU"));
    }
    return devices.front().device;
  }
  std::string names;
  std::string why_not;
  for (const DeviceInfo& info : devices) {
    const bool kind = spec == Name(info.device.type);
    if ((info.name == spec || kind) && info.why_not.empty()) return info.device;
    if (info.name == spec || kind) {
      StrAppend(why_not, StrCat(why_not.empty() ? "" : "; ", info.name, " (", info.description,
                                ") cannot be used: ", info.why_not));
    }
    StrAppend(names, StrCat(", ", info.name));
  }
  if (!why_not.empty()) return Unsupported(why_not);
  if (spec.starts_with(Name(DeviceType::kVulkan))) GDN_RETURN_IF_ERROR(GpuStatus());
  // "vulkan" is any of its kind.
  GDN_IF_VULKAN(if (devices.size() > 1) StrAppend(names, StrCat(", ", Name(DeviceType::kVulkan)));)
  return InvalidArgument(StrCat("device is ", Quoted(spec), ", want one of auto", names));
}

}  // namespace gdn
