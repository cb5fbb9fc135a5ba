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
  std::string name;         // what --device takes: "cpu"
  std::string description;  // "AMD EPYC, 2 cores"
  size_t memory_bytes = 0;
};

// In the order in which "auto" prefers them.
std::vector<DeviceInfo> ListDevices();

// "auto" or a name from ListDevices(). Errors: kInvalidArgument, naming what there is.
Result<Device> ChooseDevice(std::string_view spec);

}  // namespace gdn
