// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/gpu_testing.h"
#include "ops/sigmoid_mul/sigmoid_mul_device_testing.h"
