// SPDX-License-Identifier: Apache-2.0
// CUDA and ROCm devices and their emulation, for those who choose a device; without any vendor's
// headers.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/devices.h"
#include "base/str.h"

namespace gdn {

// Every device that the driver of a vendor names, and the emulations, which are no GPUs.
std::vector<DeviceInfo> ListGpuDevices();

// Those of vendors that this build has kernels for.
std::vector<DeviceType> GpuTypesOfBuild();

inline Status NoGpuKernels(DeviceType type) {
  return Unsupported(StrCat("this build has no kernels for ", Name(type),
                            ": build it with cmake --preset ", Name(type)));
}

// Why there are none of that type. Errors: kUnsupported where this build has no kernels for it, the
// machine no driver or the driver no device.
Status GpuDriverStatus(DeviceType type);

Result<std::unique_ptr<Backend>> OpenGpu(const Device& device, const BackendOptions& options);

}  // namespace gdn
