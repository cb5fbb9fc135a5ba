// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/vulkan_testing.h"
#include "ops/rope/rope_device_testing.h"
