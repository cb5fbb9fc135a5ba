// SPDX-License-Identifier: Apache-2.0
// What the host gives rms_norm_gpu.cu.
#pragma once

#include "backend/gpu/operands.h"

namespace gdn::gpu {

struct RmsNormParams {
  Rows x;
  const float* weight = nullptr;
  MutableRows residual;  // null for none
  MutableRows out;
  uint64_t num_rows = 0;
  uint32_t n = 0;
  float eps = 0;
  uint64_t gemma = 0;  // else the plain style
};

}  // namespace gdn::gpu
