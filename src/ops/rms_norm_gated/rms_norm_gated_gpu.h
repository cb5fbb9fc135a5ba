// SPDX-License-Identifier: Apache-2.0
// What the host gives rms_norm_gated_gpu.cu.
#pragma once

#include "backend/gpu/operands.h"

namespace gdn::gpu {

struct RmsNormGatedParams {
  Rows x, gate;
  const float* weight = nullptr;
  MutableRows out;
  uint64_t num_rows = 0;
  uint32_t n = 0;
  float eps = 0;
  uint64_t silu = 0;  // else the sigmoid
};

}  // namespace gdn::gpu
