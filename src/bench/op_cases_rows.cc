// SPDX-License-Identifier: Apache-2.0
// The operators over rows, and those of a mixture of experts. A function (exp, log, division,
// square root) counts as one flop.
#include "base/str.h"
#include "bench/op_case.h"
#include "ops/moe_combine/moe_combine.h"
#include "ops/moe_router_topk/moe_router_topk.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rms_norm_gated/rms_norm_gated.h"
#include "ops/sigmoid_mul/sigmoid_mul.h"
#include "ops/silu_and_mul/silu_and_mul.h"

namespace gdn {
namespace {

// The matrix that an operator works on, and its costs an element.
struct Matrix {
  int64_t rows;
  int64_t cols;

  Matrix(const OpDims& d, int64_t default_rows, int64_t default_cols)
      : rows(d.rows > 0 ? d.rows : default_rows), cols(d.cols > 0 ? d.cols : default_cols) {}

  Shape shape() const { return {rows, cols}; }
  OpCase Case(const OpDims& d, int flops_each, int moves_each) const {
    OpCase out;
    out.shape = StrCat(Name(d.dtype), " rows ", rows, " cols ", cols);
    out.flops = static_cast<double>(rows * cols) * flops_each;
    out.bytes = BytesOf(rows * cols * moves_each, d.dtype);
    return out;
  }
};

}  // namespace

OpCase MakeRmsNormCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const Matrix matrix(d, d.tokens, d.hidden);
  const RmsNormArgs args{.x = in.Random(d.dtype, matrix.shape()),
                         .weight = in.Random(DType::kF32, {matrix.cols}, 0.2F),
                         .residual = in.Random(d.dtype, matrix.shape()),
                         .out = in.Zeros(d.dtype, matrix.shape())};
  // Sum with the residual, square and its sum, two products; x and residual read, residual and out
  // written.
  OpCase out = matrix.Case(d, 5, 4);
  out.outputs = {args.out, args.residual};
  out.run = [args](const ExecContext& ctx, int64_t) { return RmsNorm(ctx, args); };
  return out;
}

OpCase MakeRmsNormGatedCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const Matrix matrix(d, d.tokens * d.value_heads, d.head_dim);
  const RmsNormGatedArgs args{.x = in.Random(d.dtype, matrix.shape()),
                              .gate = in.Random(d.dtype, matrix.shape()),
                              .weight = in.Random(DType::kF32, {matrix.cols}, 0.2F, 1),
                              .out = in.Zeros(d.dtype, matrix.shape())};
  // Square and its sum, two products, silu (exp, sum, division), one more product.
  OpCase out = matrix.Case(d, 8, 3);
  out.outputs = {args.out};
  out.run = [args](const ExecContext& ctx, int64_t) { return RmsNormGated(ctx, args); };
  return out;
}

OpCase MakeSiluAndMulCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const Matrix matrix(d, d.tokens, d.intermediate);
  const SiluAndMulArgs args{.gate = in.Random(d.dtype, matrix.shape()),
                            .up = in.Random(d.dtype, matrix.shape()),
                            .out = in.Zeros(d.dtype, matrix.shape())};
  OpCase out = matrix.Case(d, 4, 3);  // exp, sum, division, product
  out.outputs = {args.out};
  out.run = [args](const ExecContext& ctx, int64_t) { return SiluAndMul(ctx, args); };
  return out;
}

OpCase MakeSigmoidMulCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const Matrix matrix(d, d.tokens, d.attn_heads * d.attn_dim);
  const SigmoidMulArgs args{.x = in.Random(d.dtype, matrix.shape()),
                            .gate = in.Random(d.dtype, matrix.shape()),
                            .out = in.Zeros(d.dtype, matrix.shape())};
  OpCase out = matrix.Case(d, 4, 3);  // exp, sum, division, product
  out.outputs = {args.out};
  out.run = [args](const ExecContext& ctx, int64_t) { return SigmoidMul(ctx, args); };
  return out;
}

OpCase MakeMoeRouterTopkCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const MoeRouterTopkArgs args{.logits = in.Random(d.dtype, {d.tokens, d.experts}),
                               .weights = in.Zeros(DType::kF32, {d.tokens, d.top_k}),
                               .ids = in.Zeros(DType::kI32, {d.tokens, d.top_k})};
  OpCase out;
  out.shape = StrCat(Name(d.dtype), " T ", d.tokens, " experts ", d.experts, " top_k ", d.top_k);
  // Difference, exp, sum of each logit; logits read, ids and weights written.
  out.flops = 3 * static_cast<double>(d.tokens * d.experts);
  out.bytes = BytesOf(d.tokens * d.experts, d.dtype) + BytesOf(2 * d.tokens * d.top_k, DType::kF32);
  out.outputs = {args.weights, args.ids};
  out.run = [args](const ExecContext& ctx, int64_t) { return MoeRouterTopk(ctx, args); };
  return out;
}

OpCase MakeMoeCombineCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const MoeCombineArgs args{.expert_out = in.Random(d.dtype, {d.tokens, d.top_k, d.hidden}),
                            .weights = in.Random(DType::kF32, {d.tokens, d.top_k}, 0.03F, 0.125F),
                            .shared = in.Random(d.dtype, {d.tokens, d.hidden}),
                            .shared_gate_logit = in.Random(d.dtype, {d.tokens, 1}),
                            .out = in.Zeros(d.dtype, {d.tokens, d.hidden})};
  OpCase out;
  out.shape = StrCat(Name(d.dtype), " T ", d.tokens, " top_k ", d.top_k, " hidden ", d.hidden);
  // A product and a sum an expert, and the same for the shared one; every input read, out written.
  const int64_t elements = d.tokens * d.hidden;
  out.flops = static_cast<double>(2 * elements * (d.top_k + 1));
  out.bytes = BytesOf(elements * (d.top_k + 2), d.dtype);
  out.outputs = {args.out};
  out.run = [args](const ExecContext& ctx, int64_t) { return MoeCombine(ctx, args); };
  return out;
}

}  // namespace gdn
