// SPDX-License-Identifier: Apache-2.0
// The Vulkan devices, for those who choose a device; without the SDK's headers.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/devices.h"

namespace gdn {

// Every device that a driver names, in the order of their indices; none where there is no loader.
std::vector<DeviceInfo> ListVulkanDevices();

// Why there are none. Errors: kNotFound where there is no loader, kUnsupported where it finds no
// driver or no device.
Status VulkanStatus();

Result<std::unique_ptr<Backend>> OpenVulkan(int index, const BackendOptions& options);

}  // namespace gdn
