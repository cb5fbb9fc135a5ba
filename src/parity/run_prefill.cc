// SPDX-License-Identifier: Apache-2.0
// Golden cases of the prefill: the chunk form in 16 bits, the recurrence in f32.
#include <cstring>
#include <numeric>
#include <utility>

#include "base/copy_bytes.h"
#include "base/str.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"
#include "parity/golden_ops.h"

namespace gdn {
namespace {

Status RunRule(Workbench& bench, const Numerics& numerics, const GatedDeltaRuleArgs& args,
               OwnedTensor& out) {
  const size_t scratch_bytes =
      bench.device().type == DeviceType::kCpu
          ? GatedDeltaRuleScratchBytes(args.q.dim(2), args.v.dim(2), bench.num_threads())
          : GatedDeltaRuleDeviceScratchBytes(args.v.dtype, args.v.dim(1), args.q.dim(2),
                                             args.v.dim(2), args.v.dim(0));
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context(scratch_bytes));
  // The public entry first, always: it validates.
  const bool is_f32 = args.v.dtype == DType::kF32;
  GDN_ASSIGN_OR_RETURN(const OwnedTensor state, CopyOf(args.state, bench.memory()));
  GDN_RETURN_IF_ERROR(
      bench.Finish(is_f32 ? GatedDeltaRuleBlocked(ctx, args) : GatedDeltaRuleChunk(ctx, args)));
  if (numerics.kind == Numerics::Kind::kReference) return OkStatus();
  CopyBytes(args.state.data, state.view.data, state.storage.size_bytes());
  const std::vector<float> values = Evaluate(numerics, ctx, args);
  GDN_ASSIGN_OR_RETURN(out, NewTensor(DType::kF32, out.view.shape, bench.memory()));
  if (!values.empty()) std::memcpy(out.view.data, values.data(), values.size() * sizeof(float));
  return OkStatus();
}

}  // namespace

Result<Outputs> RunGdnPrefill(Workbench& bench, const GoldenCase& golden,
                              const Numerics& numerics) {
  GDN_ASSIGN_OR_RETURN(const bool raw_qk,
                       golden.BoolArg("use_qk_l2norm_in_kernel", /*fallback=*/false));
  if (raw_qk) return golden.Error("args.use_qk_l2norm_in_kernel is true, want q and k normalised");
  GatedDeltaRuleArgs args;
  GDN_ASSIGN_OR_RETURN(args.q, golden.Tensor("q", 3));
  GDN_ASSIGN_OR_RETURN(args.k, golden.Tensor("k", 3));
  GDN_ASSIGN_OR_RETURN(args.v, golden.Tensor("v", 3));
  GDN_ASSIGN_OR_RETURN(args.log_decay, golden.Tensor("g", 2));
  GDN_ASSIGN_OR_RETURN(args.beta, golden.Tensor("beta", 2));
  GDN_ASSIGN_OR_RETURN(const std::vector<int32_t> cu_seqlens, golden.Ints("query_start_loc"));
  const size_t num_seqs = cu_seqlens.empty() ? 0 : cu_seqlens.size() - 1;
  GDN_ASSIGN_OR_RETURN(const std::vector<uint8_t> initial, WithInitialState(golden, num_seqs));
  std::vector<int32_t> slots(num_seqs);
  std::iota(slots.begin(), slots.end(), 1);
  OwnedTensor pool;
  if (golden.Has("state_in")) {
    GDN_ASSIGN_OR_RETURN(const ConstTensor state_in, golden.Tensor("state_in", 4));
    if (!IsFloat(state_in.dtype)) return golden.Error("state_in must be floats");
    GDN_ASSIGN_OR_RETURN(pool, PoolFrom(state_in, DType::kF32, bench.memory()));
  } else {
    GDN_ASSIGN_OR_RETURN(pool, NewTensor(DType::kF32,
                                         {static_cast<int64_t>(num_seqs) + 1, args.v.dim(1),
                                          args.v.dim(2), args.k.dim(2)},
                                         bench.memory()));
  }
  args.state = pool.view;
  args.cu_seqlens = cu_seqlens;
  args.state_slots = slots;
  args.has_initial_state = initial;
  GDN_ASSIGN_OR_RETURN(args.scale, ScaleOf(golden));
  GDN_ASSIGN_OR_RETURN(const size_t operand, WordOf(golden, "kkt_operand", {"tf32", "ieee"}));
  args.kkt_operand = operand == 0 ? KktOperand::kTf32 : KktOperand::kIeee;
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(args.v.dtype, args.v.shape, bench.memory()));
  args.out = out.view;
  if (args.v.dtype == DType::kF32 && numerics.kind != Numerics::Kind::kReference) {
    return golden.Error("v is f32, want 16 bits for numerics to choose from");
  }
  if (bench.device().type != DeviceType::kCpu && numerics.kind != Numerics::Kind::kReference) {
    return golden.Error("other numerics than the reference's run on the CPU alone");
  }
  GDN_RETURN_IF_ERROR(RunRule(bench, numerics, args, out));
  Outputs outputs;
  AddOutput(outputs, "out", std::move(out));
  GDN_ASSIGN_OR_RETURN(OwnedTensor state_out,
                       CopyOf(pool.view.Slice(1, pool.view.dim(0) - 1), bench.memory()));
  AddOutput(outputs, "state_out", std::move(state_out));
  if (HasStages(numerics)) {
    GDN_ASSIGN_OR_RETURN(Outputs stages, RunStagesOfPrefill(golden, numerics.ablation));
    for (Output& stage : stages) outputs.push_back(std::move(stage));
  }
  return outputs;
}

}  // namespace gdn
