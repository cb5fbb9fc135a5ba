// SPDX-License-Identifier: Apache-2.0
// Root-mean-square norm of rows, then a gate: the output norm of a gated-delta-net layer.
//
// out = D( x * 1/sqrt(mean(x^2) + eps) * w * act(gate) ), f32 inside, one rounding; the weight is
// plain (not 1 + w). act is silu(z) = z * sigmoid(z), or sigmoid(z).
// Source: docs/numerics.md (vLLM layernorm_guard.layer_norm_fwd_kernel, norm_before_gate).
#pragma once

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

enum class GateActivation { kSilu, kSigmoid };

struct RmsNormGatedArgs {
  ConstTensor x;       // [R, n] D: f32, f16 or bf16
  ConstTensor gate;    // [R, n] D; rows may be strided
  ConstTensor weight;  // [n] f32
  float eps = 1e-6F;
  GateActivation activation = GateActivation::kSilu;
  Tensor out;  // [R, n] D; may alias x exactly
};

// Errors: kInvalidArgument for shapes, dtypes, other overlaps than the one above, and eps that is
// not above 0.
Status RmsNormGated(const ExecContext& ctx, const RmsNormGatedArgs& args);

}  // namespace gdn
