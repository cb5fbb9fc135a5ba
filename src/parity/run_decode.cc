// SPDX-License-Identifier: Apache-2.0
// Golden cases of decode, and of what comes before the gated delta rule.
#include <numeric>
#include <utility>

#include "base/str.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"
#include "ops/gdn_prep/gdn_prep.h"
#include "parity/golden_ops.h"

namespace gdn {
namespace {

struct PrepOutputs {
  OwnedTensor q, k, log_decay, beta;
};

// q [T, H, K], k [T, H, K], a [T, HV], b, A_log [HV], dt_bias [HV]: the last four from the golden.
Result<PrepOutputs> Prepare(Workbench& bench, const GoldenCase& golden, const ConstTensor& q,
                            const ConstTensor& k, GdnForm form, DecodeBeta decode_beta) {
  GdnPrepArgs args{.q = q, .k = k, .form = form, .decode_beta = decode_beta};
  GDN_ASSIGN_OR_RETURN(args.a, golden.Tensor("a", 2));
  GDN_ASSIGN_OR_RETURN(args.b, golden.Tensor("b", 2));
  GDN_ASSIGN_OR_RETURN(args.a_log, golden.Tensor("A_log", 1));
  GDN_ASSIGN_OR_RETURN(args.dt_bias, golden.Tensor("dt_bias", 1));
  if (!IsFloat(args.dt_bias.dtype) || !IsFloat(args.a_log.dtype)) {
    return golden.Error("A_log and dt_bias must be floats");
  }
  GDN_ASSIGN_OR_RETURN(const OwnedTensor a_log, ToF32(args.a_log, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor dt_bias, ToF32(args.dt_bias, bench.memory()));
  args.a_log = a_log.view;
  args.dt_bias = dt_bias.view;
  const DType dtype = form == GdnForm::kDecode ? DType::kF32 : q.dtype;
  PrepOutputs out;
  GDN_ASSIGN_OR_RETURN(out.q, NewTensor(dtype, q.shape, bench.memory()));
  GDN_ASSIGN_OR_RETURN(out.k, NewTensor(dtype, k.shape, bench.memory()));
  GDN_ASSIGN_OR_RETURN(out.log_decay, NewTensor(DType::kF32, args.a.shape, bench.memory()));
  GDN_ASSIGN_OR_RETURN(out.beta, NewTensor(DType::kF32, args.a.shape, bench.memory()));
  args.q_out = out.q.view;
  args.k_out = out.k.view;
  args.log_decay = out.log_decay.view;
  args.beta = out.beta.view;
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  GDN_RETURN_IF_ERROR(bench.Finish(GdnPrep(ctx, args)));
  return out;
}

// mixed_qkv [T, q | k | v] in heads, by args Hk, Hv, Dk, Dv.
struct MixedQkv {
  ConstTensor q, k, v;
};
Result<MixedQkv> SplitMixedQkv(const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor mixed, golden.Tensor("mixed_qkv", 2));
  GDN_ASSIGN_OR_RETURN(const int64_t hk, golden.IntArg("Hk"));
  GDN_ASSIGN_OR_RETURN(const int64_t hv, golden.IntArg("Hv"));
  GDN_ASSIGN_OR_RETURN(const int64_t dk, golden.IntArg("Dk"));
  GDN_ASSIGN_OR_RETURN(const int64_t dv, golden.IntArg("Dv"));
  constexpr int64_t kMax = 1 << 15;  // so that no product below overflows
  for (const int64_t dim : {hk, hv, dk, dv}) {
    if (dim < 1 || dim > kMax) return golden.Error("args Hk, Hv, Dk, Dv must be in 1..32768");
  }
  if (mixed.dim(1) != 2 * hk * dk + hv * dv) {
    return golden.Error(StrCat("mixed_qkv is ", Describe(mixed), ", want ", 2 * hk * dk + hv * dv,
                               " columns (2 Hk Dk + Hv Dv)"));
  }
  return MixedQkv{mixed.Columns(0, hk * dk).SplitLast(hk, dk),
                  mixed.Columns(hk * dk, hk * dk).SplitLast(hk, dk),
                  mixed.Columns(2 * hk * dk, hv * dv).SplitLast(hv, dv)};
}

// One token a sequence, in place on slots of state. Without state_indices sequence n has slot n of
// state_in, and the pool one null slot before them.
Result<Outputs> DecodeStep(Workbench& bench, const GoldenCase& golden, const PrepOutputs& prep,
                           const ConstTensor& v) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor state_in, golden.Tensor("state_in", 4));
  if (!IsFloat(state_in.dtype)) return golden.Error("state_in must be floats");
  const auto num_seqs = static_cast<size_t>(v.dim(0));
  std::vector<int32_t> slots(num_seqs);
  const bool has_slots = golden.Has("state_indices");
  OwnedTensor pool;
  if (has_slots) {
    GDN_ASSIGN_OR_RETURN(slots, golden.Ints("state_indices"));
    GDN_ASSIGN_OR_RETURN(pool, CopyOf(state_in, bench.memory()));
  } else {
    std::iota(slots.begin(), slots.end(), 1);
    GDN_ASSIGN_OR_RETURN(pool, PoolFrom(state_in, state_in.dtype, bench.memory()));
  }
  std::vector<int32_t> cu_seqlens(num_seqs + 1);
  std::iota(cu_seqlens.begin(), cu_seqlens.end(), 0);
  const std::vector<uint8_t> has_initial_state(num_seqs, 1);
  GatedDeltaRuleArgs args{.q = prep.q.view,
                          .k = prep.k.view,
                          .v = v,
                          .log_decay = prep.log_decay.view,
                          .beta = prep.beta.view,
                          .state = pool.view,
                          .cu_seqlens = cu_seqlens,
                          .state_slots = slots,
                          .has_initial_state = has_initial_state};
  GDN_ASSIGN_OR_RETURN(args.scale, ScaleOf(golden));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(v.dtype, v.shape, bench.memory()));
  args.out = out.view;
  GDN_ASSIGN_OR_RETURN(
      const ExecContext ctx,
      bench.Context(GatedDeltaRuleScratchBytes(args.q.dim(2), args.v.dim(2), bench.num_threads())));
  GDN_RETURN_IF_ERROR(bench.Finish(GatedDeltaRuleRecurrent(ctx, args)));
  Outputs outputs;
  AddOutput(outputs, "out", std::move(out));
  if (!has_slots) {
    GDN_ASSIGN_OR_RETURN(pool, CopyOf(pool.view.Slice(1, pool.view.dim(0) - 1), bench.memory()));
  }
  AddOutput(outputs, "state_out", std::move(pool));
  return outputs;
}

void AddPrepOutputs(Outputs& outputs, PrepOutputs prep, const char* q, const char* k) {
  AddOutput(outputs, q, std::move(prep.q));
  AddOutput(outputs, k, std::move(prep.k));
  AddOutput(outputs, "g", std::move(prep.log_decay));
  AddOutput(outputs, "beta", std::move(prep.beta));
}

// args.packed_beta, or what the oracle's release does: vLLM 0.25 rounds beta to the dtype of b,
// 0.33 does not. Those between have not been looked at.
Result<DecodeBeta> PackedBetaOf(const GoldenCase& golden) {
  if (!golden.HasArg("packed_beta")) {
    if (golden.implementation().starts_with("vLLM 0.25")) return DecodeBeta::kRounded;
    if (golden.implementation().starts_with("vLLM 0.33")) return DecodeBeta::kF32;
    return golden.Error(StrCat("args.packed_beta is absent and the oracle is ",
                               Quoted(golden.implementation()),
                               ", want bf16 or f32, or an oracle of vLLM 0.25 or 0.33"));
  }
  GDN_ASSIGN_OR_RETURN(const size_t word, WordOf(golden, "packed_beta", {"bf16", "f32"}));
  return word == 0 ? DecodeBeta::kRounded : DecodeBeta::kF32;
}

}  // namespace

Result<Outputs> RunGdnDecode(Workbench& bench, const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor q, golden.Tensor("q", 3));
  GDN_ASSIGN_OR_RETURN(const ConstTensor k, golden.Tensor("k", 3));
  GDN_ASSIGN_OR_RETURN(const ConstTensor v, golden.Tensor("v", 3));
  GDN_ASSIGN_OR_RETURN(PrepOutputs prep,
                       Prepare(bench, golden, q, k, GdnForm::kDecode, DecodeBeta::kF32));
  GDN_ASSIGN_OR_RETURN(Outputs outputs, DecodeStep(bench, golden, prep, v));
  AddPrepOutputs(outputs, std::move(prep), "q_l2", "k_l2");
  return outputs;
}

Result<Outputs> RunGdnPackedDecode(Workbench& bench, const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const MixedQkv qkv, SplitMixedQkv(golden));
  GDN_ASSIGN_OR_RETURN(const DecodeBeta beta, PackedBetaOf(golden));
  GDN_ASSIGN_OR_RETURN(PrepOutputs prep,
                       Prepare(bench, golden, qkv.q, qkv.k, GdnForm::kDecode, beta));
  GDN_ASSIGN_OR_RETURN(Outputs outputs, DecodeStep(bench, golden, prep, qkv.v));
  AddOutput(outputs, "g", std::move(prep.log_decay));
  AddOutput(outputs, "beta_packed_f32", std::move(prep.beta));
  return outputs;
}

Result<Outputs> RunGdnPrep(Workbench& bench, const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const MixedQkv qkv, SplitMixedQkv(golden));
  GDN_ASSIGN_OR_RETURN(PrepOutputs prep,
                       Prepare(bench, golden, qkv.q, qkv.k, GdnForm::kPrefill, DecodeBeta::kF32));
  Outputs outputs;
  AddPrepOutputs(outputs, std::move(prep), "q_out", "k_out");
  return outputs;
}

Result<Outputs> RunL2Norm(Workbench& bench, const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor x, golden.Tensor("x", 2));
  GDN_ASSIGN_OR_RETURN(const double eps, golden.NumberArg("eps", 1e-6));
  if (eps != 1e-6) return golden.Error(StrCat("args.eps is ", eps, ", want 1e-6"));
  if (!IsFloat(x.dtype)) return golden.Error(StrCat("x is ", Describe(x), ", want floats"));
  // The norm is part of GdnPrep: x is its q and its k, under gates of zero.
  const Shape heads{x.dim(0), 1, x.dim(1)};
  const Shape gates{x.dim(0), 1};
  GdnPrepArgs args{.q = x.Reshape(heads), .k = x.Reshape(heads)};
  GDN_ASSIGN_OR_RETURN(const OwnedTensor zeros, NewTensor(x.dtype, gates, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor zero, NewTensor(DType::kF32, {1}, bench.memory()));
  args.a = args.b = zeros.view;
  args.a_log = args.dt_bias = zero.view;
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(x.dtype, x.shape, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor unused, NewTensor(x.dtype, heads, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor log_decay, NewTensor(DType::kF32, gates, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor beta, NewTensor(DType::kF32, gates, bench.memory()));
  args.q_out = out.view.Reshape(heads);
  args.k_out = unused.view;
  args.log_decay = log_decay.view;
  args.beta = beta.view;
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  GDN_RETURN_IF_ERROR(bench.Finish(GdnPrep(ctx, args)));
  Outputs outputs;
  AddOutput(outputs, "out", std::move(out));
  return outputs;
}

}  // namespace gdn
