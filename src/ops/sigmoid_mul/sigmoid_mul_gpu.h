// SPDX-License-Identifier: Apache-2.0
// What the host gives sigmoid_mul_gpu.cu.
#pragma once

#include "backend/gpu/operands.h"

namespace gdn::gpu {

struct SigmoidMulParams {
  Rows x, gate;
  MutableRows out;
  uint64_t num_rows = 0;
  uint32_t n = 0;
  uint32_t unused = 0;  // no padding: parameters are compared by their bytes
};

}  // namespace gdn::gpu
