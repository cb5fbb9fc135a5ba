// SPDX-License-Identifier: Apache-2.0
// Where a tensor lives and an operator runs.
#pragma once

namespace gdn {

enum class DeviceType { kCpu, kVulkan };

struct Device {
  DeviceType type = DeviceType::kCpu;
  int index = 0;
};

constexpr const char* Name(DeviceType type) {
  switch (type) {
    case DeviceType::kCpu:
      return "cpu";
    case DeviceType::kVulkan:
      return "vulkan";
  }
  return "?";
}

}  // namespace gdn
