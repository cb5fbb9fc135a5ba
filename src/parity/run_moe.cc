// SPDX-License-Identifier: Apache-2.0
// Golden cases of a mixture of experts, composed of the operators that a model would use.
#include <cstring>
#include <utility>

#include "base/str.h"
#include "ops/moe_combine/moe_combine.h"
#include "ops/moe_router_topk/moe_router_topk.h"
#include "ops/silu_and_mul/silu_and_mul.h"
#include "parity/golden_ops.h"

namespace gdn {
namespace {

Result<OwnedTensor> Swiglu(Workbench& bench, const ConstTensor& gate_up) {
  if (gate_up.dim(1) % 2 != 0) {
    return InvalidArgument(StrCat("moe_block: gate and up of an expert have ", gate_up.dim(1),
                                  " rows together, want an even number"));
  }
  const int64_t cols = gate_up.dim(1) / 2;
  GDN_ASSIGN_OR_RETURN(OwnedTensor out,
                       NewTensor(gate_up.dtype, {gate_up.dim(0), cols}, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  GDN_RETURN_IF_ERROR(SiluAndMul(
      ctx, {.gate = gate_up.Columns(0, cols), .up = gate_up.Columns(cols, cols), .out = out.view}));
  return out;
}

// down(silu(gate) * up) of the rows of x, the last product rounded to round_to.
Result<OwnedTensor> Expert(Workbench& bench, const ConstTensor& x, const ConstTensor& gate_up,
                           const ConstTensor& down, DType round_to) {
  GDN_ASSIGN_OR_RETURN(const OwnedTensor both, Product(bench, x, gate_up, x.dtype));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor hidden, Swiglu(bench, both.view));
  return Product(bench, hidden.view, down, round_to);
}

Result<Outputs> Route(Workbench& bench, const GoldenCase& golden, const ConstTensor& logits) {
  GDN_RETURN_IF_ERROR(WordOf(golden, "scoring_func", {"softmax"}).status());
  GDN_ASSIGN_OR_RETURN(const int64_t top_k, golden.IntArg("top_k"));
  GDN_ASSIGN_OR_RETURN(const bool renormalise, golden.BoolArg("renormalize"));
  if (top_k < 1 || top_k > kMoeMaxExperts) {
    return golden.Error(StrCat("args.top_k is ", top_k, ", want it in 1..", kMoeMaxExperts));
  }
  const Shape shape{logits.dim(0), top_k};
  GDN_ASSIGN_OR_RETURN(OwnedTensor weights, NewTensor(DType::kF32, shape, bench.memory()));
  GDN_ASSIGN_OR_RETURN(OwnedTensor ids, NewTensor(DType::kI32, shape, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  GDN_RETURN_IF_ERROR(MoeRouterTopk(
      ctx, {.logits = logits,
            .renormalise = renormalise ? MoeRenormalise::kSumToOne : MoeRenormalise::kNone,
            .weights = weights.view,
            .ids = ids.view}));
  Outputs outputs;
  AddOutput(outputs, "topk_weights", std::move(weights));
  AddOutput(outputs, "topk_ids", std::move(ids));
  return outputs;
}

// [T, top_k, H]: what each chosen expert makes of each row.
Result<OwnedTensor> ExpertOutputs(Workbench& bench, const GoldenCase& golden, const ConstTensor& x,
                                  const ConstTensor& ids, DType round_to) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor w13, golden.Tensor("w13", 3));
  GDN_ASSIGN_OR_RETURN(const ConstTensor w2, golden.Tensor("w2", 3));
  const int64_t hidden = x.dim(1);
  const int64_t top_k = ids.dim(1);
  if (w13.dim(0) != w2.dim(0) || w13.dim(2) != hidden || w2.dim(1) != hidden) {
    return golden.Error(StrCat("w13 is ", Describe(w13), ", w2 is ", Describe(w2),
                               ", want [E, 2I, H=", hidden, "] and [E, H, I]"));
  }
  GDN_ASSIGN_OR_RETURN(OwnedTensor out,
                       NewTensor(round_to, {x.dim(0), top_k, hidden}, bench.memory()));
  for (int64_t t = 0; t < x.dim(0); ++t) {
    for (int64_t j = 0; j < top_k; ++j) {
      const int64_t expert = ids.Row<int32_t>(t)[j];
      if (expert >= w13.dim(0)) return golden.Error("gate_w has more experts than w13");
      const ConstTensor gate_up = w13.Slice(expert, 1).Reshape({w13.dim(1), w13.dim(2)});
      const ConstTensor down = w2.Slice(expert, 1).Reshape({w2.dim(1), w2.dim(2)});
      GDN_ASSIGN_OR_RETURN(const OwnedTensor y,
                           Expert(bench, x.Slice(t, 1), gate_up, down, round_to));
      std::memcpy(static_cast<std::byte*>(out.view.data) +
                      static_cast<size_t>((t * top_k + j) * hidden) * SizeOf(round_to),
                  y.view.data, static_cast<size_t>(hidden) * SizeOf(round_to));
    }
  }
  return out;
}

}  // namespace

Result<Outputs> RunMoeRouterTopk(Workbench& bench, const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor logits, golden.Tensor("logits", 2));
  return Route(bench, golden, logits);
}

Result<Outputs> RunMoeBlock(Workbench& bench, const GoldenCase& golden) {
  GDN_RETURN_IF_ERROR(WordOf(golden, "activation", {"silu"}).status());
  GDN_ASSIGN_OR_RETURN(const size_t word,
                       WordOf(golden, "combine", {"rounded_experts", "fused_kernel"}));
  const MoeCombineOrder order =
      word == 0 ? MoeCombineOrder::kRoundedExperts : MoeCombineOrder::kFusedKernel;
  GDN_ASSIGN_OR_RETURN(const ConstTensor x, golden.Tensor("x", 2));
  GDN_ASSIGN_OR_RETURN(const ConstTensor gate_w, golden.Tensor("gate_w", 2));
  GDN_ASSIGN_OR_RETURN(const ConstTensor shared_gate_up, golden.Tensor("w_shared_gate_up", 2));
  GDN_ASSIGN_OR_RETURN(const ConstTensor shared_down, golden.Tensor("w_shared_down", 2));
  GDN_ASSIGN_OR_RETURN(const ConstTensor shared_gate, golden.Tensor("w_shared_gate", 2));
  GDN_ASSIGN_OR_RETURN(OwnedTensor logits, Product(bench, x, gate_w, x.dtype));
  GDN_ASSIGN_OR_RETURN(Outputs outputs, Route(bench, golden, logits.view));
  const Tensor weights = outputs[0].tensor.view;
  GDN_ASSIGN_OR_RETURN(
      const OwnedTensor experts,
      ExpertOutputs(bench, golden, x, outputs[1].tensor.view, word == 0 ? x.dtype : DType::kF32));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor shared,
                       Expert(bench, x, shared_gate_up, shared_down, x.dtype));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor gate, Product(bench, x, shared_gate, x.dtype));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(x.dtype, x.shape, bench.memory()));
  GDN_ASSIGN_OR_RETURN(OwnedTensor routed, NewTensor(x.dtype, x.shape, bench.memory()));
  GDN_ASSIGN_OR_RETURN(OwnedTensor shared_out, NewTensor(x.dtype, x.shape, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  GDN_RETURN_IF_ERROR(bench.Finish(MoeCombine(ctx, {.expert_out = experts.view,
                                                    .weights = weights,
                                                    .shared = shared.view,
                                                    .shared_gate_logit = gate.view,
                                                    .order = order,
                                                    .out = out.view,
                                                    .routed = routed.view,
                                                    .shared_out = shared_out.view})));
  AddOutput(outputs, "router_logits", std::move(logits));
  AddOutput(outputs, "routed_out", std::move(routed));
  AddOutput(outputs, "shared_out", std::move(shared_out));
  AddOutput(outputs, "out", std::move(out));
  return outputs;
}

}  // namespace gdn
