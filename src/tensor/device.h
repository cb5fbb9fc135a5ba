// SPDX-License-Identifier: Apache-2.0
// Where a tensor lives and an operator runs.
#pragma once

#include <cstdint>

namespace gdn {

enum class DeviceType : uint8_t {
  kCpu,
  kVulkan,
  kCuda,
  kRocm,
  kEmu,  // the kernels of CUDA and ROCm on the host; its index is the size of a warp
};

// Devices that run the same kernels.
enum class KernelFamily : uint8_t { kCpu, kVulkan, kGpu };

constexpr KernelFamily FamilyOf(DeviceType type) {
  switch (type) {
    case DeviceType::kCpu:
      return KernelFamily::kCpu;
    case DeviceType::kVulkan:
      return KernelFamily::kVulkan;
    case DeviceType::kCuda:
    case DeviceType::kRocm:
    case DeviceType::kEmu:
      return KernelFamily::kGpu;
  }
  return KernelFamily::kCpu;
}

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
    case DeviceType::kCuda:
      return "cuda";
    case DeviceType::kRocm:
      return "rocm";
    case DeviceType::kEmu:
      return "emu";
  }
  return "?";
}

}  // namespace gdn
