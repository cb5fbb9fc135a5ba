// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/vulkan_testing.h"
#include "ops/gated_delta_rule/gated_delta_rule_device_testing.h"
