// SPDX-License-Identifier: Apache-2.0
#include "model/layers/gated_delta_net.h"

#include <cmath>

#include "ops/causal_conv1d/causal_conv1d.h"
#include "ops/gdn_prep/gdn_prep.h"
#include "ops/linear/linear.h"

namespace gdn {

struct GatedDeltaNet::Buffers {
  Tensor qkv;        // [T, C] D, before the convolution
  Tensor conv;       // [T, C] D, after it: q | k | v
  Tensor z;          // [T, Hv * Dv] D
  Tensor b;          // [T, Hv] D
  Tensor a;          // [T, Hv] D
  Tensor q;          // [T, Hk, Dk] f32 where decoding, else D
  Tensor k;          // like q
  Tensor log_decay;  // [T, Hv] f32
  Tensor beta;       // [T, Hv] f32
  Tensor core;       // [T, Hv, Dv] D

  Buffers(Arena& arena, DType dtype, const Dims& d, int64_t num_tokens)
      : qkv(arena.Take(dtype, {num_tokens, d.conv_channels()})),
        conv(arena.Take(dtype, {num_tokens, d.conv_channels()})),
        z(arena.Take(dtype, {num_tokens, d.v_columns()})),
        b(arena.Take(dtype, {num_tokens, d.num_value_heads})),
        a(arena.Take(dtype, {num_tokens, d.num_value_heads})),
        q(arena.Take(DType::kF32, {num_tokens, d.num_key_heads, d.key_dim})),
        k(arena.Take(DType::kF32, {num_tokens, d.num_key_heads, d.key_dim})),
        log_decay(arena.Take(DType::kF32, {num_tokens, d.num_value_heads})),
        beta(arena.Take(DType::kF32, {num_tokens, d.num_value_heads})),
        core(arena.Take(dtype, {num_tokens, d.num_value_heads, d.value_dim})) {}

  // The columns of the convolution's output, as heads.
  Tensor ConvHeads(int64_t first_column, int64_t heads, int64_t dim) const {
    return conv.Columns(first_column, heads * dim).SplitLast(heads, dim);
  }
};

void GatedDeltaNet::Measure(Arena& arena, DType dtype, const Dims& dims, int64_t num_tokens) {
  const size_t mark = arena.Mark();
  Buffers(arena, dtype, dims, num_tokens);
  arena.Release(mark);
}

Status GatedDeltaNet::Project(const LayerContext& ctx, const Tensor& x, const Buffers& b) const {
  GDN_RETURN_IF_ERROR(Linear(ctx.exec, {x, &weights_.qkv, x.dtype, b.qkv}));
  GDN_RETURN_IF_ERROR(Linear(ctx.exec, {x, &weights_.z, x.dtype, b.z}));
  GDN_RETURN_IF_ERROR(Linear(ctx.exec, {x, &weights_.b, x.dtype, b.b}));
  return Linear(ctx.exec, {x, &weights_.a, x.dtype, b.a});
}

Status GatedDeltaNet::Decode(const LayerContext& ctx, const GdnStateView& states,
                             const Buffers& b) const {
  const int64_t count = ctx.plan.num_decode_tokens();
  if (count == 0) return OkStatus();
  const int64_t hk = dims_.num_key_heads;
  const StepPlan::Part part = ctx.plan.decode_part();
  const Tensor q = b.q.Slice(0, count);
  const Tensor k = b.k.Slice(0, count);
  GDN_RETURN_IF_ERROR(
      GdnPrep(ctx.exec, {.q = b.ConvHeads(0, hk, dims_.key_dim).Slice(0, count),
                         .k = b.ConvHeads(dims_.q_columns(), hk, dims_.key_dim).Slice(0, count),
                         .a = b.a.Slice(0, count),
                         .b = b.b.Slice(0, count),
                         .a_log = weights_.a_log.view,
                         .dt_bias = weights_.dt_bias.view,
                         .form = GdnForm::kDecode,
                         .q_out = q,
                         .k_out = k,
                         .log_decay = b.log_decay.Slice(0, count),
                         .beta = b.beta.Slice(0, count)}));
  return GatedDeltaRuleRecurrent(
      ctx.exec, {.q = q,
                 .k = k,
                 .v = b.ConvHeads(2 * dims_.q_columns(), dims_.num_value_heads, dims_.value_dim)
                          .Slice(0, count),
                 .log_decay = b.log_decay.Slice(0, count),
                 .beta = b.beta.Slice(0, count),
                 .state = states.recurrent,
                 .cu_seqlens = part.cu_seqlens,
                 .state_slots = part.state_slots,
                 .has_initial_state = part.has_initial_state,
                 .scale = 1.0F / std::sqrt(static_cast<float>(dims_.key_dim)),
                 .out = b.core.Slice(0, count)});
}

Status GatedDeltaNet::Prefill(const LayerContext& ctx, PrefillRule rule, const GdnStateView& states,
                              const Buffers& b) const {
  const int64_t first = ctx.plan.num_decode_tokens();
  const int64_t count = ctx.plan.num_prefill_tokens();
  if (count == 0) return OkStatus();
  const int64_t hk = dims_.num_key_heads;
  const StepPlan::Part part = ctx.plan.prefill_part();
  // Prompt tokens round q and k to the model's dtype: the same memory, read as that dtype.
  const Shape qk_shape{count, hk, dims_.key_dim};
  const Tensor q(b.q.Slice(first, count).data, b.core.dtype, qk_shape);
  const Tensor k(b.k.Slice(first, count).data, b.core.dtype, qk_shape);
  GDN_RETURN_IF_ERROR(
      GdnPrep(ctx.exec, {.q = b.ConvHeads(0, hk, dims_.key_dim).Slice(first, count),
                         .k = b.ConvHeads(dims_.q_columns(), hk, dims_.key_dim).Slice(first, count),
                         .a = b.a.Slice(first, count),
                         .b = b.b.Slice(first, count),
                         .a_log = weights_.a_log.view,
                         .dt_bias = weights_.dt_bias.view,
                         .form = GdnForm::kPrefill,
                         .q_out = q,
                         .k_out = k,
                         .log_decay = b.log_decay.Slice(first, count),
                         .beta = b.beta.Slice(first, count)}));
  const GatedDeltaRuleArgs args = {
      .q = q,
      .k = k,
      .v = b.ConvHeads(2 * dims_.q_columns(), dims_.num_value_heads, dims_.value_dim)
               .Slice(first, count),
      .log_decay = b.log_decay.Slice(first, count),
      .beta = b.beta.Slice(first, count),
      .state = states.recurrent,
      .cu_seqlens = part.cu_seqlens,
      .state_slots = part.state_slots,
      .has_initial_state = part.has_initial_state,
      .scale = 1.0F / std::sqrt(static_cast<float>(dims_.key_dim)),
      .out = b.core.Slice(first, count)};
  return rule == PrefillRule::kChunk ? GatedDeltaRuleChunk(ctx.exec, args)
                                     : GatedDeltaRuleBlocked(ctx.exec, args);
}

Status GatedDeltaNet::Forward(const LayerContext& ctx, PrefillRule rule, const GdnStateView& states,
                              const Tensor& x) const {
  const size_t mark = ctx.arena.Mark();
  const Buffers b(ctx.arena, x.dtype, dims_, x.dim(0));
  GDN_RETURN_IF_ERROR(Project(ctx, x, b));
  GDN_RETURN_IF_ERROR(CausalConv1d(ctx.exec, {.x = b.qkv,
                                              .weight = weights_.conv.view,
                                              .state = states.conv,
                                              .cu_seqlens = ctx.plan.batch().cu_seqlens,
                                              .state_slots = ctx.plan.batch().state_slots,
                                              .has_initial_state = ctx.plan.has_initial_state(),
                                              .out = b.conv}));
  GDN_RETURN_IF_ERROR(Decode(ctx, states, b));
  GDN_RETURN_IF_ERROR(Prefill(ctx, rule, states, b));
  const Tensor rows = b.core.FlattenRows();
  GDN_RETURN_IF_ERROR(RmsNormGated(
      ctx.exec, {.x = rows,
                 .gate = b.z.SplitLast(dims_.num_value_heads, dims_.value_dim).FlattenRows(),
                 .weight = weights_.norm.view,
                 .eps = dims_.rms_norm_eps,
                 .activation = dims_.output_gate,
                 .out = rows}));
  const Tensor core = b.core.Reshape({x.dim(0), dims_.v_columns()});
  GDN_RETURN_IF_ERROR(Linear(ctx.exec, {core, &weights_.out, x.dtype, x}));
  ctx.arena.Release(mark);
  return OkStatus();
}

}  // namespace gdn
