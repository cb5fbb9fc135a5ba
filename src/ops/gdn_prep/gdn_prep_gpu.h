// SPDX-License-Identifier: Apache-2.0
// What the host gives gdn_prep_gpu.cu.
#pragma once

#include "backend/gpu/operands.h"

namespace gdn::gpu {

struct GdnPrepParams {
  Heads q, k;
  Rows a, b;
  const float* a_log = nullptr;
  const float* dt_bias = nullptr;
  void* q_out = nullptr;  // [T, H, K]
  void* k_out = nullptr;
  float* log_decay = nullptr;  // [T, HV]
  float* beta = nullptr;
  uint64_t num_tokens = 0;
  uint64_t num_row_blocks = 0;
  uint32_t num_heads = 0;
  uint32_t k_dim = 0;
  uint32_t num_value_heads = 0;
  uint32_t rounds_beta = 0;
};

}  // namespace gdn::gpu
