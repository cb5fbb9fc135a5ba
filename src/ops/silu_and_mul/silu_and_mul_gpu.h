// SPDX-License-Identifier: Apache-2.0
// What the host gives silu_and_mul_gpu.cu.
#pragma once

#include "backend/gpu/operands.h"

namespace gdn::gpu {

struct SiluAndMulParams {
  Rows gate, up;
  MutableRows out;
  uint64_t num_rows = 0;
  uint64_t n = 0;
};

}  // namespace gdn::gpu
