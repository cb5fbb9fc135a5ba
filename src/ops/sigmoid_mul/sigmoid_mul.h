// SPDX-License-Identifier: Apache-2.0
// Output gate of the full-attention layers: out = D( x * sigmoid(gate) ), f32 inside, one rounding.
// Source: docs/numerics.md (Qwen3.5 attn_output_gate).
#pragma once

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

struct SigmoidMulArgs {
  ConstTensor x;     // [R, n] D: f32, f16 or bf16; rows may be strided
  ConstTensor gate;  // [R, n] D; rows may be strided
  Tensor out;        // [R, n] D; may alias x exactly
};

// Errors: kInvalidArgument for shapes, dtypes, and other overlaps than the one above.
Status SigmoidMul(const ExecContext& ctx, const SigmoidMulArgs& args);

}  // namespace gdn
