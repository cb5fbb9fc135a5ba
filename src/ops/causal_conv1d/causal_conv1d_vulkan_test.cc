// SPDX-License-Identifier: Apache-2.0
#include "ops/causal_conv1d/causal_conv1d_device_testing.h"
#include "ops/common/testing/vulkan_testing.h"
