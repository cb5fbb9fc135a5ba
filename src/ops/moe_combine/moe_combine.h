// SPDX-License-Identifier: Apache-2.0
// The end of a mixture of experts: the experts' outputs weighted and summed, the gated shared
// expert added.
//
//   kRoundedExperts: routed = D( sum_k w_k * y_k ), y = D(down product)
//   kFusedKernel:    routed = D( sum_k D(w_k * y_k) ), y = the down product's f32 accumulator
//   shared_out = D( D(sigmoid(shared_gate_logit)) * shared ),  out = D( routed + shared_out )
// Products and sums are f32 without fma, k ascending. Without a shared expert out = routed.
// kRoundedExperts is what upstream's dump does, measured; kFusedKernel is how its fused_moe kernel
// reads, which no dump covers. Source: vLLM fused_moe, Qwen3NextSparseMoeBlock.
#pragma once

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

enum class MoeCombineOrder : uint8_t { kRoundedExperts, kFusedKernel };

struct MoeCombineArgs {
  // [T, top_k >= 1, H] D (f32, f16 or bf16), for kFusedKernel f32; any strides >= 0, the last 1
  ConstTensor expert_out;
  ConstTensor weights;            // [T, top_k] f32 contiguous
  ConstTensor shared;             // [T, H] D, rows may be strided; empty for no shared expert
  ConstTensor shared_gate_logit;  // [T, 1] D, rows may be strided; empty with shared
  MoeCombineOrder order = MoeCombineOrder::kRoundedExperts;
  Tensor out;         // [T, H] D; may alias shared exactly
  Tensor routed;      // [T, H] D; empty where not wanted
  Tensor shared_out;  // [T, H] D, may alias shared exactly; empty where not wanted
};

// ctx: pool. Errors: kInvalidArgument for shapes, dtypes, and other overlaps than those above;
// the outputs never overlap each other.
Status MoeCombine(const ExecContext& ctx, const MoeCombineArgs& args);

}  // namespace gdn
