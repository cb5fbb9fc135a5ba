// SPDX-License-Identifier: Apache-2.0
// Root-mean-square norm of rows, optionally fused with the residual add before it.
//
// s = x + residual (or x), stored back to residual as D(s); y = s * 1/sqrt(mean(s^2) + eps) in f32;
//   kGemma: out = D(y * (1 + w)), one rounding    (Qwen3-Next, Qwen3.5)
//   kPlain: out = D(D(y) * w), the row rounded first    (OLMo)
// bf16 normalises the rounded sum D(s); f16 normalises the f32 sum, as the reference does.
// Source: docs/numerics.md (vLLM GemmaRMSNorm.forward_native, RMSNorm.forward_native).
#pragma once

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

enum class RmsNormStyle { kGemma, kPlain };

struct RmsNormArgs {
  ConstTensor x;       // [R, n] D: f32, f16 or bf16; rows may be strided
  ConstTensor weight;  // [n] f32, as stored (the 1 of 1 + w is added here)
  float eps = 1e-6F;
  RmsNormStyle style = RmsNormStyle::kGemma;
  Tensor residual;  // [R, n] D, in and out; empty for none
  Tensor out;       // [R, n] D; may alias x exactly
};

// Errors: kInvalidArgument for shapes, dtypes, other overlaps than the one above, and eps that is
// not above 0. Sums of squares are f32 in a fixed order that does not depend on R.
Status RmsNorm(const ExecContext& ctx, const RmsNormArgs& args);

}  // namespace gdn
