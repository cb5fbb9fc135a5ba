// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/gpu_testing.h"
#include "ops/rms_norm_gated/rms_norm_gated_device_testing.h"
