// SPDX-License-Identifier: Apache-2.0
#include "backend/devices.h"

#include <fstream>

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

}  // namespace

std::vector<DeviceInfo> ListDevices() {
  return {{.device = {DeviceType::kCpu, 0},
           .name = Name(DeviceType::kCpu),
           .description = StrCat(CpuModelName(), ", ", NumCores(), " cores"),
           .memory_bytes = TotalMemoryBytes()}};
}

Result<Device> ChooseDevice(std::string_view spec) {
  const std::vector<DeviceInfo> devices = ListDevices();
  if (spec == "auto") return devices.front().device;
  std::string names;
  for (const DeviceInfo& info : devices) {
    if (info.name == spec) return info.device;
    StrAppend(names, StrCat(", ", info.name));
  }
  return InvalidArgument(StrCat("device is ", Quoted(spec), ", want one of auto", names));
}

}  // namespace gdn
