// SPDX-License-Identifier: Apache-2.0
#include "ops/argmax/argmax_device_testing.h"
#include "ops/common/testing/gpu_testing.h"
