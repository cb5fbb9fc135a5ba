// SPDX-License-Identifier: Apache-2.0
// What the host gives embedding_gpu.cu.
#pragma once

#include "backend/gpu/operands.h"

namespace gdn::gpu {

struct EmbeddingParams {
  const int32_t* ids = nullptr;  // [T]
  const void* table = nullptr;   // linear/weight_layout.h
  MutableRows out;
  uint64_t num_tokens = 0;
  uint32_t hidden = 0;
  uint32_t row_major = 0;  // else panels of 32 rows
};

}  // namespace gdn::gpu
