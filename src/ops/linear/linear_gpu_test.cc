// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/gpu_testing.h"
#include "ops/linear/linear_device_testing.h"
