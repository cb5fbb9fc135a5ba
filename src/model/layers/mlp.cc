// SPDX-License-Identifier: Apache-2.0
#include "model/layers/mlp.h"

#include "ops/linear/linear.h"
#include "ops/silu_and_mul/silu_and_mul.h"

namespace gdn {
namespace {

struct Buffers {
  Tensor gate;  // [T, I] D, then silu(gate) * up
  Tensor up;    // [T, I] D

  Buffers(Arena& arena, DType dtype, int64_t intermediate_size, int64_t num_tokens)
      : gate(arena.Take(dtype, {num_tokens, intermediate_size})),
        up(arena.Take(dtype, {num_tokens, intermediate_size})) {}
};

}  // namespace

void Mlp::Measure(Arena& arena, DType dtype, int64_t intermediate_size, int64_t num_tokens) {
  const size_t mark = arena.Mark();
  Buffers(arena, dtype, intermediate_size, num_tokens);
  arena.Release(mark);
}

Status Mlp::Forward(const LayerContext& ctx, const Tensor& x) const {
  const size_t mark = ctx.arena.Mark();
  const Buffers b(ctx.arena, x.dtype, weights_.gate.rows(), x.dim(0));
  GDN_RETURN_IF_ERROR(Linear(ctx.exec, {x, &weights_.gate, x.dtype, b.gate}));
  GDN_RETURN_IF_ERROR(Linear(ctx.exec, {x, &weights_.up, x.dtype, b.up}));
  GDN_RETURN_IF_ERROR(SiluAndMul(ctx.exec, {b.gate, b.up, b.gate}));
  GDN_RETURN_IF_ERROR(Linear(ctx.exec, {b.gate, &weights_.down, x.dtype, x}));
  ctx.arena.Release(mark);
  return OkStatus();
}

}  // namespace gdn
