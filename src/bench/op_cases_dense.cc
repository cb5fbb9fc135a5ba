// SPDX-License-Identifier: Apache-2.0
// Matrices and attention.
#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "base/str.h"
#include "bench/op_case.h"
#include "ops/argmax/argmax.h"
#include "ops/attention/attention.h"
#include "ops/embedding/embedding.h"
#include "ops/linear/linear.h"
#include "ops/linear/linear_silu_and_mul.h"
#include "ops/rope/rope.h"

namespace gdn {

OpCase MakeLinearCase(const OpDims& d, int num_threads, OpInputs& in) {
  const int64_t m = d.rows > 0 ? d.rows : d.tokens;
  const int64_t k = d.cols > 0 ? d.cols : d.hidden;
  const int64_t n = d.outs > 0 ? d.outs : d.intermediate;
  // Weights come from memory at every call, as in a model that is larger than the caches.
  const int64_t copies = in.NumCopies(static_cast<size_t>(n * k) * SizeOf(d.dtype));
  const std::vector<const Weight*> weights = in.Matrices(copies, d.dtype, n, k);
  const ConstTensor x = in.Random(d.dtype, {m, k});
  const Tensor y = in.Zeros(d.dtype, {m, n});

  OpCase out;
  out.shape = StrCat(Name(d.dtype), " M ", m, " N ", n, " K ", k);
  out.flops = 2 * static_cast<double>(m) * static_cast<double>(n * k);
  out.bytes = BytesOf(n * k + m * (n + k), d.dtype);
  out.scratch_bytes = LinearScratchBytes(m, k, num_threads);
  out.num_copies = copies;
  out.outputs = {y};
  out.run = [=, dtype = d.dtype](const ExecContext& ctx, int64_t copy) {
    return Linear(ctx, {x, weights[static_cast<size_t>(copy)], dtype, y});
  };
  return out;
}

OpCase MakeLinearSiluAndMulCase(const OpDims& d, int num_threads, OpInputs& in) {
  const int64_t m = d.rows > 0 ? d.rows : d.tokens;
  const int64_t k = d.hidden;
  const int64_t n = d.intermediate;
  const int64_t copies = in.NumCopies(2 * static_cast<size_t>(n * k) * SizeOf(d.dtype));
  const std::vector<const Weight*> gates = in.Matrices(copies, d.dtype, n, k);
  const std::vector<const Weight*> ups = in.Matrices(copies, d.dtype, n, k);
  const ConstTensor x = in.Random(d.dtype, {m, k});
  const Tensor y = in.Zeros(d.dtype, {m, n});

  OpCase out;
  out.shape = StrCat(Name(d.dtype), " M ", m, " N 2x", n, " K ", k);
  out.flops = 4 * static_cast<double>(m) * static_cast<double>(n * k);
  out.bytes = BytesOf(2 * n * k + m * (n + k), d.dtype);
  out.scratch_bytes = LinearScratchBytes(m, k, num_threads);
  out.num_copies = copies;
  out.outputs = {y};
  out.run = [=](const ExecContext& ctx, int64_t copy) {
    const auto i = static_cast<size_t>(copy);
    return LinearSiluAndMul(ctx, {x, gates[i], ups[i], y});
  };
  return out;
}

OpCase MakeEmbeddingCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const std::vector<const Weight*> tables = in.Matrices(1, d.dtype, d.vocab, d.hidden);
  Rng rng(1);
  std::vector<int32_t> ids(static_cast<size_t>(d.tokens));
  std::ranges::generate(
      ids, [&] { return static_cast<int32_t>(rng.NextBelow(static_cast<uint64_t>(d.vocab))); });
  const std::span<const int32_t> tokens = in.Ints(std::move(ids));
  const Tensor rows = in.Zeros(d.dtype, {d.tokens, d.hidden});

  OpCase out;
  out.shape = StrCat(Name(d.dtype), " T ", d.tokens, " vocab ", d.vocab, " hidden ", d.hidden);
  // Each row read and written.
  out.bytes = BytesOf(2 * d.tokens * d.hidden, d.dtype);
  out.outputs = {rows};
  out.run = [=](const ExecContext& ctx, int64_t) {
    return Embedding(ctx, {tokens, tables[0], rows});
  };
  return out;
}

// The logits of a step.
OpCase MakeArgmaxCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const int64_t copies = in.NumCopies(static_cast<size_t>(d.tokens * d.vocab) * sizeof(float));
  const Tensor logits = in.RandomCopies(copies, DType::kF32, {d.tokens, d.vocab});
  const Tensor index = in.Zeros(DType::kI32, {d.tokens});
  OpCase out;
  out.shape = StrCat("f32 rows ", d.tokens, " vocab ", d.vocab);
  out.flops = static_cast<double>(d.tokens * d.vocab);
  out.bytes = BytesOf(d.tokens * d.vocab, DType::kF32);
  out.outputs = {index};
  out.num_copies = copies;
  out.run = [=, rows = d.tokens](const ExecContext& ctx, int64_t copy) {
    return Argmax(ctx, {logits.Slice(copy * rows, rows), index});
  };
  return out;
}

double AttentionFlops(int64_t first_position, int64_t tokens, int64_t heads, int64_t head_dim) {
  const auto t = static_cast<double>(tokens);
  const double pairs = t * static_cast<double>(first_position) + t * (t + 1) / 2;
  return 4 * pairs * static_cast<double>(heads * head_dim);
}

OpCase MakeAttentionCase(const OpDims& d, int num_threads, OpInputs& in) {
  const bool decode = d.form == OpForm::kDecode;
  const int64_t t = d.tokens;
  const int64_t num_seqs = decode ? t : 1;
  const int64_t length = decode ? d.context : t;  // of a sequence
  const int64_t blocks = (length + kKvBlockSize - 1) / kKvBlockSize;
  // Keys and values of all sequences, each read once.
  const int64_t kv_elements = 2 * num_seqs * length * d.kv_heads * d.attn_dim;
  const int64_t copies =
      decode ? in.NumCopies(static_cast<size_t>(kv_elements) * SizeOf(d.dtype)) : 1;
  // The null block lies in front, in a copy that is never used.
  const Shape pool{num_seqs * blocks, d.kv_heads, kKvBlockSize, d.attn_dim};
  AttentionArgs args;
  args.q = in.Random(d.dtype, {t, d.attn_heads, d.attn_dim});
  args.cache = {in.RandomCopies(copies + 1, d.dtype, pool),
                in.RandomCopies(copies + 1, d.dtype, pool)};
  args.index.positions =
      decode
          ? in.Ints(std::vector<int32_t>(static_cast<size_t>(t), static_cast<int32_t>(length - 1)))
          : in.Range(0, t);
  args.index.cu_seqlens = in.Range(0, num_seqs + 1, decode ? 1 : t);
  args.index.max_blocks = blocks;
  args.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d.attn_dim)));
  args.out = in.Zeros(d.dtype, {t, d.attn_heads, d.attn_dim});
  const std::span<const int32_t> table = in.Range(num_seqs * blocks, copies * num_seqs * blocks);
  const auto table_size = static_cast<size_t>(num_seqs * blocks);

  OpCase out;
  out.shape =
      StrCat(decode ? "decode " : "prefill ", Name(d.dtype), decode ? " N " : " T ", t, " context ",
             length, " Hq ", d.attn_heads, " Hkv ", d.kv_heads, " D ", d.attn_dim);
  out.flops = decode
                  ? static_cast<double>(t) * AttentionFlops(length - 1, 1, d.attn_heads, d.attn_dim)
                  : AttentionFlops(0, t, d.attn_heads, d.attn_dim);
  // And q read, out written.
  out.bytes = BytesOf(kv_elements + 2 * t * d.attn_heads * d.attn_dim, d.dtype);
  out.scratch_bytes = AttentionScratchBytes(d.attn_heads, d.attn_dim, num_threads);
  out.num_copies = copies;
  out.outputs = {args.out};
  out.run = [=](const ExecContext& ctx, int64_t copy) {
    AttentionArgs call = args;
    call.index.block_table = table.subspan(static_cast<size_t>(copy) * table_size, table_size);
    return Attention(ctx, call);
  };
  return out;
}

OpCase MakeRopeCase(const OpDims& d, int /*num_threads*/, OpInputs& in) {
  const int64_t rotary = std::min(d.rotary_dim, d.attn_dim / 2 * 2);
  RopeArgs args;
  args.table = in.Random(DType::kF32, {d.tokens, rotary}, 0.25F);
  args.positions = in.Range(0, d.tokens);
  args.x = in.Random(d.dtype, {d.tokens, d.attn_heads, d.attn_dim});

  OpCase out;
  out.shape = StrCat(Name(d.dtype), " T ", d.tokens, " H ", d.attn_heads, " D ", d.attn_dim,
                     " rotary ", rotary);
  const int64_t rotated = d.tokens * d.attn_heads * rotary;
  // Two products and a sum each; read and written, and a row of the table a token.
  out.flops = 3 * static_cast<double>(rotated);
  out.bytes = BytesOf(2 * rotated, d.dtype) + BytesOf(d.tokens * rotary, DType::kF32);
  out.outputs = {args.x};
  out.run = [args](const ExecContext& ctx, int64_t) { return Rope(ctx, args); };
  return out;
}

}  // namespace gdn
