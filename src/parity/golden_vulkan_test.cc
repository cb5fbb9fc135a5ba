// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/vulkan_testing.h"
#include "parity/golden_device_testing.h"
