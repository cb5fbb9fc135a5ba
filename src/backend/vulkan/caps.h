// SPDX-License-Identifier: Apache-2.0
// Reads what a Vulkan device can do.
#pragma once

#include <string>

#include "backend/vulkan/instance.h"

namespace gdn::vulkan {

Caps ReadCaps(const InstanceApi& api, VkPhysicalDevice device);

// "1.2.3"
std::string DescribeVersion(uint32_t version);

}  // namespace gdn::vulkan
