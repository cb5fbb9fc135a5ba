// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/vulkan_testing.h"
#include "ops/silu_and_mul/silu_and_mul_device_testing.h"
