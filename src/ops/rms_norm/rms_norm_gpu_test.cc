// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/gpu_testing.h"
#include "ops/rms_norm/rms_norm_device_testing.h"
