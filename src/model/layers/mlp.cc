// SPDX-License-Identifier: Apache-2.0
#include "model/layers/mlp.h"

#include "backend/backend.h"
#include "ops/linear/linear.h"
#include "ops/linear/linear_silu_and_mul.h"
#include "ops/silu_and_mul/silu_and_mul.h"

namespace gdn {
namespace {

// [T, I] D: silu(gate) * up.
Tensor TakeProduct(Arena& arena, DType dtype, int64_t intermediate_size, int64_t num_tokens) {
  return arena.Take(dtype, {num_tokens, intermediate_size});
}

}  // namespace

void Mlp::Measure(Arena& arena, DType dtype, int64_t intermediate_size, int64_t num_tokens) {
  const size_t mark = arena.Mark();
  TakeProduct(arena, dtype, intermediate_size, num_tokens);
  TakeProduct(arena, dtype, intermediate_size, num_tokens);
  arena.Release(mark);
}

Status Mlp::Forward(const LayerContext& ctx, const Tensor& x) const {
  const size_t mark = ctx.arena.Mark();
  const Tensor product = TakeProduct(ctx.arena, x.dtype, weights_.gate.rows(), x.dim(0));
  if (ctx.exec.backend != nullptr && ctx.exec.backend->has_vendor_gemm()) {
    // The library knows products alone.
    const Tensor up = TakeProduct(ctx.arena, x.dtype, weights_.gate.rows(), x.dim(0));
    GDN_RETURN_IF_ERROR(Linear(ctx.exec, {x, &weights_.gate, x.dtype, product}));
    GDN_RETURN_IF_ERROR(Linear(ctx.exec, {x, &weights_.up, x.dtype, up}));
    GDN_RETURN_IF_ERROR(SiluAndMul(ctx.exec, {product, up, product}));
  } else {
    GDN_RETURN_IF_ERROR(LinearSiluAndMul(ctx.exec, {x, &weights_.gate, &weights_.up, product}));
  }
  GDN_RETURN_IF_ERROR(Linear(ctx.exec, {product, &weights_.down, x.dtype, x}));
  ctx.arena.Release(mark);
  return OkStatus();
}

}  // namespace gdn
