// SPDX-License-Identifier: Apache-2.0
// The gated half of an MLP: two linear layers over the same rows and SwiGLU, in one pass.
//
// out = D( D(silu(D(x Wg^T))) * D(x Wu^T) ): the bits of Linear twice, each rounded to D, and of
// SiluAndMul (silu_and_mul.h). Neither product is written to memory.
#pragma once

#include "backend/exec_context.h"
#include "base/status.h"
#include "ops/linear/weight.h"

namespace gdn {

struct LinearSiluAndMulArgs {
  ConstTensor x;                 // [M, K] D: f32, f16 or bf16; rows may be strided
  const Weight* gate = nullptr;  // [N, K] D
  const Weight* up = nullptr;    // [N, K] D, of the layout of gate
  Tensor out;                    // [M, N] D; rows may be strided
};

// ctx.scratch: LinearScratchBytes. Errors: kInvalidArgument for shapes, dtypes and layouts. out
// must not alias x.
Status LinearSiluAndMul(const ExecContext& ctx, const LinearSiluAndMulArgs& args);

}  // namespace gdn
