// SPDX-License-Identifier: Apache-2.0
// What the host gives rope_gpu.cu.
#pragma once

#include "backend/gpu/operands.h"

namespace gdn::gpu {

struct RopeParams {
  const int32_t* positions = nullptr;  // [T]
  Rows table;                          // f32: cos of half_dim angles, then their sin
  MutableRows x;
  int64_t x_head_stride = 0;
  uint64_t num_tokens = 0;
  uint32_t num_heads = 0;
  uint32_t half_dim = 0;
};

}  // namespace gdn::gpu
