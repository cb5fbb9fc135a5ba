// SPDX-License-Identifier: Apache-2.0
// Golden cases of gated attention, which is several operators, and of a product of two matrices.
#include <numeric>
#include <utility>

#include "base/str.h"
#include "ops/attention/attention.h"
#include "ops/linear/linear.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rope/rope.h"
#include "ops/sigmoid_mul/sigmoid_mul.h"
#include "parity/golden_ops.h"

namespace gdn {
namespace {

// x after the per-head Gemma norm and rope. x [T, heads, D] is changed in place.
Status NormAndRotate(Workbench& bench, const GoldenCase& golden, const char* weight_name,
                     const Tensor& x, const RopeArgs& rope) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor weight, golden.Tensor(weight_name, 1));
  if (!IsFloat(weight.dtype)) return golden.Error(StrCat(weight_name, " must be floats"));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor wide, ToF32(weight, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const double eps, golden.NumberArg("eps"));
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  const Tensor rows = x.FlattenRows();
  GDN_RETURN_IF_ERROR(bench.Finish(
      RmsNorm(ctx, {.x = rows, .weight = wide.view, .eps = static_cast<float>(eps), .out = rows})));
  RopeArgs args = rope;
  args.x = x;
  return bench.Finish(Rope(ctx, args));
}

struct Cache {
  OwnedTensor k, v;
  std::vector<int32_t> cu_seqlens;
  std::vector<int32_t> block_table;
};

// One sequence of T tokens, its keys and values in blocks 1 and on.
Result<Cache> NewCache(Workbench& bench, const ConstTensor& k, const ConstTensor& v) {
  const int64_t blocks = (k.dim(0) + kKvBlockSize - 1) / kKvBlockSize;
  Cache out;
  GDN_ASSIGN_OR_RETURN(
      out.k, NewTensor(k.dtype, {blocks + 1, k.dim(1), kKvBlockSize, k.dim(2)}, bench.memory()));
  GDN_ASSIGN_OR_RETURN(
      out.v, NewTensor(v.dtype, {blocks + 1, v.dim(1), kKvBlockSize, v.dim(2)}, bench.memory()));
  out.cu_seqlens = {0, static_cast<int32_t>(k.dim(0))};
  out.block_table.resize(static_cast<size_t>(blocks));
  std::iota(out.block_table.begin(), out.block_table.end(), 1);
  return out;
}

Result<OwnedTensor> Attend(Workbench& bench, const GoldenCase& golden, const ConstTensor& q,
                           const ConstTensor& k, const ConstTensor& v) {
  GDN_ASSIGN_OR_RETURN(const double scale, golden.NumberArg("scale"));
  GDN_ASSIGN_OR_RETURN(const Cache cache, NewCache(bench, k, v));
  // The cache counts from 0, wherever the rope's positions begin.
  std::vector<int32_t> rows(static_cast<size_t>(q.dim(0)));
  std::iota(rows.begin(), rows.end(), 0);
  const PagedIndex index{.positions = rows,
                         .cu_seqlens = cache.cu_seqlens,
                         .block_table = cache.block_table,
                         .max_blocks = static_cast<int64_t>(cache.block_table.size())};
  const KvCacheView view{cache.k.view, cache.v.view};
  GDN_RETURN_IF_ERROR(bench.Finish(
      KvCacheStore(bench.CopyContext(), {.k = k, .v = v, .index = index, .cache = view})));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(q.dtype, q.shape, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context(AttentionScratchBytes(
                                                  q.dim(1), q.dim(2), bench.num_threads())));
  GDN_RETURN_IF_ERROR(bench.Finish(Attention(ctx, {.q = q,
                                                   .cache = view,
                                                   .index = index,
                                                   .scale = static_cast<float>(scale),
                                                   .out = out.view})));
  return out;
}

}  // namespace

Result<Outputs> RunDenseAttention(Workbench& bench, const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor q_in, golden.Tensor("q", 3));
  GDN_ASSIGN_OR_RETURN(const ConstTensor k_in, golden.Tensor("k", 3));
  GDN_ASSIGN_OR_RETURN(const ConstTensor v, golden.Tensor("v", 3));
  GDN_ASSIGN_OR_RETURN(const ConstTensor gate, golden.Tensor("gate", 3));
  GDN_ASSIGN_OR_RETURN(const bool causal, golden.BoolArg("causal", /*fallback=*/true));
  if (!causal) return golden.Error("args.causal is false, want true");
  if (gate.shape != q_in.shape || k_in.shape != v.shape || k_in.dim(0) != q_in.dim(0)) {
    return golden.Error("q, gate [T, Hq, D] and k, v [T, Hkv, D] do not fit each other");
  }
  GDN_ASSIGN_OR_RETURN(const std::vector<int32_t> positions, golden.Ints("positions"));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor table, RopeTableFor(bench, golden, positions));
  const RopeArgs rope{.table = table.view, .positions = positions};
  GDN_ASSIGN_OR_RETURN(const OwnedTensor q, CopyOf(q_in, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor k, CopyOf(k_in, bench.memory()));
  GDN_RETURN_IF_ERROR(NormAndRotate(bench, golden, "q_norm_weight", q.view, rope));
  GDN_RETURN_IF_ERROR(NormAndRotate(bench, golden, "k_norm_weight", k.view, rope));
  GDN_ASSIGN_OR_RETURN(OwnedTensor attn, Attend(bench, golden, q.view, k.view, v));
  const Shape flat{q_in.dim(0), q_in.dim(1) * q_in.dim(2)};
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(q_in.dtype, flat, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  GDN_RETURN_IF_ERROR(bench.Finish(SigmoidMul(
      ctx, {.x = attn.view.Reshape(flat), .gate = gate.Reshape(flat), .out = out.view})));
  Outputs outputs;
  AddOutput(outputs, "attn", std::move(attn));
  AddOutput(outputs, "out", std::move(out));
  return outputs;
}

Result<OwnedTensor> Product(Workbench& bench, const ConstTensor& x, const ConstTensor& w,
                            DType round_to) {
  GDN_ASSIGN_OR_RETURN(const Weight weight,
                       Weight::Pack(
                           w, bench.pool(), [](int64_t, int64_t) {}, bench.memory()));
  if (x.shape.rank() != 2) return InvalidArgument(StrCat("matmul: a is ", Describe(x)));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(round_to, {x.dim(0), w.dim(0)}, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx,
                       bench.Context(LinearScratchBytes(x.dim(0), x.dim(1), bench.num_threads())));
  GDN_RETURN_IF_ERROR(bench.Finish(
      Linear(ctx, {.x = x, .weight = &weight, .round_to = round_to, .out = out.view})));
  return out;
}

Result<Outputs> RunMatmul(Workbench& bench, const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor a, golden.Tensor("a", 2));
  GDN_ASSIGN_OR_RETURN(const ConstTensor b, golden.Tensor("b", 2));
  if (!IsFloat(a.dtype) || !IsFloat(b.dtype)) return golden.Error("a and b must be floats");
  GDN_ASSIGN_OR_RETURN(const OwnedTensor transposed,
                       NewTensor(b.dtype, {b.dim(1), b.dim(0)}, bench.memory()));
  DispatchFloat(b.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t i = 0; i < b.dim(0); ++i) {
      for (int64_t j = 0; j < b.dim(1); ++j) {
        transposed.view.Row<T>(j)[i] = b.Row<T>(i)[j];
      }
    }
  });
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, Product(bench, a, transposed.view, DType::kF32));
  Outputs outputs;
  AddOutput(outputs, "out", std::move(out));
  return outputs;
}

}  // namespace gdn
