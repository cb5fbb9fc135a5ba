// SPDX-License-Identifier: Apache-2.0
// The devices of this machine that this build can run on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tensor/device.h"

namespace gdn {

struct DeviceInfo {
  Device device;
  std::string name;         // what --device takes: "cpu", "vulkan:0"
  std::string description;  // "AMD EPYC, 2 cores"
  size_t memory_bytes = 0;
  std::vector<std::string> features;  // what matters of a device that is not the CPU
  bool unified_memory = false;        // memory_bytes are the host's
  bool is_gpu = false;                // what "auto" prefers to the CPU
  std::string why_not;                // what it lacks; "" where it can be used
};

// The CPU first, emulations last. Those that cannot be used are among them.
std::vector<DeviceInfo> ListDevices();

// A line for each vendor whose kernels this build has and whose devices this machine has not:
// "cuda: no NVIDIA driver; ...".
std::vector<std::string> WhatIsMissing();

// A name from ListDevices(); "cuda", "rocm", "vulkan" are the first of their kind that can be used;
// "auto" is the first GPU that can be used, of CUDA before ROCm before Vulkan, else the CPU, and
// says in the log why a GPU cannot be. Errors: kInvalidArgument, naming what there is;
// kUnsupported, naming what the device lacks, or why there is no device of that kind at all; those
// of VulkanStatus().
Result<Device> ChooseDevice(std::string_view spec);

// What a model may take there, in bytes; 0 where nobody says.
size_t AvailableMemoryBytes(const Device& device);

}  // namespace gdn
