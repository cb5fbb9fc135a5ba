// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/vulkan_testing.h"
#include "ops/gdn_prep/gdn_prep_device_testing.h"
