// SPDX-License-Identifier: Apache-2.0
#include "model/layers/gated_attention.h"

#include <cmath>

#include "ops/linear/linear.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rope/rope.h"
#include "ops/sigmoid_mul/sigmoid_mul.h"

namespace gdn {
namespace {

struct Buffers {
  Tensor q;     // [T, Hq, D or 2 D] D: per head query, then gate
  Tensor k;     // [T, Hkv, D]
  Tensor v;     // [T, Hkv, D]
  Tensor attn;  // [T, Hq, D]

  Buffers(Arena& arena, DType dtype, const GatedAttention::Dims& d, int64_t num_tokens)
      : q(arena.Take(dtype, {num_tokens, d.num_heads, d.head_dim * (d.output_gate ? 2 : 1)})),
        k(arena.Take(dtype, {num_tokens, d.num_kv_heads, d.head_dim})),
        v(arena.Take(dtype, {num_tokens, d.num_kv_heads, d.head_dim})),
        attn(arena.Take(dtype, {num_tokens, d.num_heads, d.head_dim})) {}
};

Tensor Matrix(const Tensor& heads) {
  return heads.Reshape({heads.dim(0), heads.dim(1) * heads.dim(2)});
}

}  // namespace

void GatedAttention::Measure(Arena& arena, DType dtype, const Dims& dims, int64_t num_tokens) {
  const size_t mark = arena.Mark();
  Buffers(arena, dtype, dims, num_tokens);
  arena.Release(mark);
}

Status GatedAttention::Forward(const LayerContext& ctx, const ConstTensor& rope_table,
                               const KvCacheView& cache, const Tensor& x) const {
  const ExecContext& exec = ctx.exec;
  const size_t mark = ctx.arena.Mark();
  const Buffers b(ctx.arena, x.dtype, dims_, x.dim(0));
  GDN_RETURN_IF_ERROR(Linear(exec, {x, &weights_.q, x.dtype, Matrix(b.q)}));
  GDN_RETURN_IF_ERROR(Linear(exec, {x, &weights_.k, x.dtype, Matrix(b.k)}));
  GDN_RETURN_IF_ERROR(Linear(exec, {x, &weights_.v, x.dtype, Matrix(b.v)}));

  const Tensor q = b.q.Columns(0, dims_.head_dim);
  const Tensor q_rows = q.FlattenRows();
  const Tensor k_rows = b.k.FlattenRows();
  GDN_RETURN_IF_ERROR(RmsNorm(
      exec,
      {.x = q_rows, .weight = weights_.q_norm.view, .eps = dims_.rms_norm_eps, .out = q_rows}));
  GDN_RETURN_IF_ERROR(RmsNorm(
      exec,
      {.x = k_rows, .weight = weights_.k_norm.view, .eps = dims_.rms_norm_eps, .out = k_rows}));
  GDN_RETURN_IF_ERROR(Rope(exec, {rope_table, ctx.plan.batch().positions, q}));
  GDN_RETURN_IF_ERROR(Rope(exec, {rope_table, ctx.plan.batch().positions, b.k}));

  const PagedIndex index = ctx.plan.paged_index();
  GDN_RETURN_IF_ERROR(KvCacheStore(exec, {b.k, b.v, index, cache}));
  const float scale = 1.0F / std::sqrt(static_cast<float>(dims_.head_dim));
  GDN_RETURN_IF_ERROR(Attention(exec, {q, cache, index, scale, b.attn}));
  if (dims_.output_gate) {
    const Tensor rows = b.attn.FlattenRows();
    const Tensor gate = b.q.Columns(dims_.head_dim, dims_.head_dim).FlattenRows();
    GDN_RETURN_IF_ERROR(SigmoidMul(exec, {rows, gate, rows}));
  }
  GDN_RETURN_IF_ERROR(Linear(exec, {Matrix(b.attn), &weights_.o, x.dtype, x}));
  ctx.arena.Release(mark);
  return OkStatus();
}

}  // namespace gdn
