// SPDX-License-Identifier: Apache-2.0
// SwiGLU: out = D( D(silu(gate)) * up ), silu(z) = z / (1 + exp(-z)) in f32, rounded before the
// product. Source: docs/numerics.md (vLLM SiluAndMul.forward_native, measured).
#pragma once

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

struct SiluAndMulArgs {
  ConstTensor gate;  // [T, n] D: f32, f16 or bf16; rows may be strided
  ConstTensor up;    // [T, n] D; rows may be strided
  Tensor out;        // [T, n] D; may alias gate or up exactly
};

// Errors: kInvalidArgument for shapes, dtypes, and other overlaps than the one above.
Status SiluAndMul(const ExecContext& ctx, const SiluAndMulArgs& args);

}  // namespace gdn
