// SPDX-License-Identifier: Apache-2.0
// Router of a mixture of experts: which top_k experts a token goes to, and with what weights.
//
// p = softmax(logits) in f32 over ALL experts; ids = the top_k largest p in descending order, ties
// to the lower id; weights = those p, or (kSumToOne) p / (their sum), in f32.
// The ids of a row are in [0, E) and differ. A row whose softmax is not a number (a logit is NaN or
// +inf, or all are -inf) has ids 0, 1, .. top_k - 1 and weights NaN; other rows do not notice.
// Source: vLLM, torch_topk of tests/kernels/moe/test_fused_topk.py, measured.
#pragma once

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

// Most experts that a router has: a row of them lies on the stack of a kernel.
inline constexpr int64_t kMoeMaxExperts = 1024;

enum class MoeRenormalise : uint8_t { kNone, kSumToOne };

struct MoeRouterTopkArgs {
  ConstTensor logits;  // [T, E] f32, f16 or bf16, 1 <= E <= kMoeMaxExperts; rows may be strided
  MoeRenormalise renormalise = MoeRenormalise::kSumToOne;
  Tensor weights;  // [T, top_k] f32 contiguous, 1 <= top_k <= E
  Tensor ids;      // [T, top_k] i32 contiguous
};

// ctx: pool. Errors: kInvalidArgument for shapes, dtypes and overlaps; outputs alias nothing.
Status MoeRouterTopk(const ExecContext& ctx, const MoeRouterTopkArgs& args);

}  // namespace gdn
