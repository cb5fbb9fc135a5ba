// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "ops/common/testing/simd_targets.h"
#include "tensor/dtype_testing.h"

namespace gdn {
namespace {

using testing::HasSubstr;

struct Dims {
  int64_t num_heads;
  int64_t num_kv_heads;
  int64_t head_dim;
  float Scale() const { return 1.0F / std::sqrt(static_cast<float>(head_dim)); }
  std::string Name() const {
    return "Hq" + std::to_string(num_heads) + "_Hkv" + std::to_string(num_kv_heads) + "_D" +
           std::to_string(head_dim);
  }
};
void PrintTo(const Dims& dims, std::ostream* out) { *out << dims.Name(); }

// Queries, keys and values of a whole sequence.
template <class T>
struct Sequence {
  Sequence(const Dims& dims, int64_t tokens, uint64_t seed)
      : length(tokens),
        q(Random(tokens * dims.num_heads * dims.head_dim, seed)),
        k(Random(tokens * dims.num_kv_heads * dims.head_dim, seed + 1)),
        v(Random(tokens * dims.num_kv_heads * dims.head_dim, seed + 2)) {}

  static std::vector<T> Random(int64_t count, uint64_t seed) {
    Rng rng(seed * 1000003);
    std::vector<T> out(static_cast<size_t>(count));
    for (T& value : out) value = FromF32<T>(static_cast<float>(rng.NextNormal()));
    return out;
  }

  int64_t length;
  std::vector<T> q, k, v;
};

// Tokens [first, first + count) of a sequence, computed in one step.
struct Slice {
  size_t seq;
  int64_t first;
  int64_t count;
};
using Step = std::vector<Slice>;

struct RunOptions {
  std::string_view impl = "attention_paged";
  int threads = 2;
  uint64_t table_seed = 1;  // which cache blocks the sequences get
  int64_t q_pad = 0;        // elements between the heads of one token's queries
};

// Runs the steps over an empty cache of NaN and returns each sequence's outputs [T, Hq, D].
template <class T>
std::vector<std::vector<T>> Attend(const Dims& dims, const std::vector<Sequence<T>>& seqs,
                                   const std::vector<Step>& steps, const RunOptions& options = {}) {
  int64_t max_blocks = 1;
  for (const auto& seq : seqs) max_blocks = std::max(max_blocks, seq.length / kKvBlockSize + 2);
  const auto blocks = static_cast<int64_t>(seqs.size()) * max_blocks + 3;
  const Shape cache_shape{blocks, dims.num_kv_heads, kKvBlockSize, dims.head_dim};
  const auto nan = FromF32<T>(NAN);
  std::vector<T> k_cache(static_cast<size_t>(cache_shape.NumElements()), nan);
  std::vector<T> v_cache = k_cache;
  const KvCacheView cache = {Tensor(k_cache.data(), cache_shape),
                             Tensor(v_cache.data(), cache_shape)};
  std::vector<int32_t> order(static_cast<size_t>(blocks) - 1);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i) + 1;
  Rng rng(options.table_seed);
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[rng.NextBelow(i + 1)]);

  ThreadPool pool(options.threads);
  std::vector<std::byte> scratch(
      AttentionScratchBytes(dims.num_heads, dims.head_dim, options.threads), std::byte{0xFF});
  ExecContext ctx;
  ctx.pool = &pool;
  ctx.scratch = Scratch(scratch);

  std::vector<std::vector<T>> outs;
  const int64_t q_row = dims.num_heads * dims.head_dim;
  const int64_t kv_row = dims.num_kv_heads * dims.head_dim;
  for (const auto& seq : seqs) outs.emplace_back(static_cast<size_t>(seq.length * q_row), nan);
  for (const Step& step : steps) {
    std::vector<T> q, k, v;
    std::vector<int32_t> positions, cu_seqlens = {0}, table;
    for (const Slice& slice : step) {
      const auto& seq = seqs[slice.seq];
      for (int64_t t = slice.first; t < slice.first + slice.count; ++t) {
        positions.push_back(static_cast<int32_t>(t));
        for (int64_t h = 0; h < dims.num_heads; ++h) {
          const auto* from = &seq.q[static_cast<size_t>(t * q_row + h * dims.head_dim)];
          q.insert(q.end(), from, from + dims.head_dim);
          q.insert(q.end(), static_cast<size_t>(options.q_pad), nan);
        }
      }
      const auto kv_range = [&](const std::vector<T>& from, std::vector<T>& to) {
        to.insert(to.end(), from.begin() + slice.first * kv_row,
                  from.begin() + (slice.first + slice.count) * kv_row);
      };
      kv_range(seq.k, k);
      kv_range(seq.v, v);
      cu_seqlens.push_back(static_cast<int32_t>(positions.size()));
      // Entries that no position reaches are not read: -7 would be an error.
      const int64_t used = (slice.first + slice.count + kKvBlockSize - 1) / kKvBlockSize;
      for (int64_t b = 0; b < max_blocks; ++b) {
        const auto entry = slice.seq * static_cast<size_t>(max_blocks) + static_cast<size_t>(b);
        table.push_back(b < used ? order[entry] : -7);
      }
    }
    const auto num_tokens = static_cast<int64_t>(positions.size());
    const PagedIndex index = {positions, cu_seqlens, table, max_blocks};
    KvCacheStoreArgs store;
    store.k = ConstTensor(k.data(), Shape{num_tokens, dims.num_kv_heads, dims.head_dim});
    store.v = ConstTensor(v.data(), Shape{num_tokens, dims.num_kv_heads, dims.head_dim});
    store.index = index;
    store.cache = cache;
    ctx.impl = options.impl == "ref" ? "ref" : "";
    Status status = KvCacheStore(ctx, store);
    EXPECT_TRUE(status.ok()) << status.message();

    std::vector<T> out(static_cast<size_t>(num_tokens * q_row), nan);
    AttentionArgs args;
    const int64_t head_stride = dims.head_dim + options.q_pad;
    args.q = ConstTensor(q.data(), Shape{num_tokens, dims.num_heads, dims.head_dim});
    args.q.strides = {head_stride * dims.num_heads, head_stride, 1};
    args.cache = cache;
    args.index = index;
    args.scale = dims.Scale();
    args.out = Tensor(out.data(), Shape{num_tokens, dims.num_heads, dims.head_dim});
    ctx.impl = options.impl;
    status = Attention(ctx, args);
    EXPECT_TRUE(status.ok()) << status.message();
    auto from = out.begin();
    for (const Slice& slice : step) {
      std::copy_n(from, slice.count * q_row, outs[slice.seq].begin() + slice.first * q_row);
      from += slice.count * q_row;
    }
  }
  return outs;
}

template <class T>
std::vector<Step> WholeAtOnce(const std::vector<Sequence<T>>& seqs) {
  Step step;
  for (size_t i = 0; i < seqs.size(); ++i) step.push_back({i, 0, seqs[i].length});
  return {step};
}

template <class T>
std::vector<double> ExactAttention(const Dims& dims, const Sequence<T>& seq) {
  std::vector<double> out;
  const auto at = [&](const std::vector<T>& x, int64_t t, int64_t h, int64_t heads, int64_t d) {
    return static_cast<double>(ToF32(x[static_cast<size_t>((t * heads + h) * dims.head_dim + d)]));
  };
  for (int64_t t = 0; t < seq.length; ++t) {
    for (int64_t h = 0; h < dims.num_heads; ++h) {
      const int64_t kv = h / (dims.num_heads / dims.num_kv_heads);
      std::vector<double> p;
      for (int64_t j = 0; j <= t; ++j) {
        double dot = 0;
        for (int64_t d = 0; d < dims.head_dim; ++d) {
          dot += at(seq.q, t, h, dims.num_heads, d) * at(seq.k, j, kv, dims.num_kv_heads, d);
        }
        p.push_back(dot * dims.Scale());
      }
      const double greatest = *std::ranges::max_element(p);
      double sum = 0;
      for (double& x : p) sum += x = std::exp(x - greatest);
      for (int64_t d = 0; d < dims.head_dim; ++d) {
        double acc = 0;
        for (int64_t j = 0; j <= t; ++j) {
          acc += p[static_cast<size_t>(j)] * at(seq.v, j, kv, dims.num_kv_heads, d);
        }
        out.push_back(acc / sum);
      }
    }
  }
  return out;
}

// f32 sums of up to a few hundred terms below 1 in all, then one rounding: half an ulp of T.
template <class T>
void ExpectNear(const std::vector<T>& got, const std::vector<double>& want) {
  const double half_ulp = DTypeOf<T>() == DType::kF32   ? 0
                          : DTypeOf<T>() == DType::kF16 ? 0x1p-11
                                                        : 0x1p-8;
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(ToF32(got[i]), want[i], 2e-6 + half_ulp * std::abs(want[i])) << i;
  }
}

template <class T>
void ExpectSameBits(const std::vector<std::vector<T>>& a, const std::vector<std::vector<T>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t n = 0; n < a.size(); ++n) {
    ASSERT_EQ(a[n].size(), b[n].size());
    for (size_t i = 0; i < a[n].size(); ++i) {
      ASSERT_EQ(std::bit_cast<uint32_t>(ToF32(a[n][i])), std::bit_cast<uint32_t>(ToF32(b[n][i])))
          << "sequence " << n << " element " << i;
    }
  }
}

// ---- against exact attention ----

class AttentionShapes : public testing::TestWithParam<std::tuple<DType, Dims, int64_t>> {};

TEST_P(AttentionShapes, MatchExactAttention) {
  const auto& [dtype, dims, length] = GetParam();
  DispatchFloat(dtype, [dims = dims, length = length](auto element) {
    using T = decltype(element);
    const std::vector<Sequence<T>> seqs = {{dims, length, 3}};
    const std::vector<double> want = ExactAttention(dims, seqs[0]);
    ExpectNear(Attend(dims, seqs, WholeAtOnce(seqs), {.impl = "ref"})[0], want);
    ForEachSimdTarget([&] { ExpectNear(Attend(dims, seqs, WholeAtOnce(seqs))[0], want); });
  });
}

INSTANTIATE_TEST_SUITE_P(Attention, AttentionShapes,
                         testing::Combine(testing::Values(DType::kF32, DType::kF16, DType::kBf16),
                                          testing::Values(Dims{4, 2, 16}, Dims{12, 2, 40},
                                                          Dims{3, 3, 7}),
                                          testing::Values(1, 63, 64, 65, 129)),
                         [](const auto& param) {
                           return std::string(Name(std::get<0>(param.param))) + "_" +
                                  std::get<1>(param.param).Name() + "_T" +
                                  std::to_string(std::get<2>(param.param));
                         });

TEST(Attention, MatchesExactAttentionAtRealHeads) {
  for (const Dims& dims : {Dims{24, 4, 256}, Dims{8, 2, 128}, Dims{2, 1, 512}, Dims{70, 1, 8}}) {
    const std::vector<Sequence<Bf16>> seqs = {{dims, 70, 5}};
    const std::vector<double> want = ExactAttention(dims, seqs[0]);
    ExpectNear(Attend(dims, seqs, WholeAtOnce(seqs))[0], want);
    ExpectNear(Attend(dims, seqs, WholeAtOnce(seqs), {.impl = "ref"})[0], want);
  }
}

// ---- one result whatever the batch ----

template <class T>
class AttentionOrder : public testing::Test {};
using ElementTypes = testing::Types<float, F16, Bf16>;
TYPED_TEST_SUITE(AttentionOrder, ElementTypes);

TYPED_TEST(AttentionOrder, SplitAnywhereIsWhole) {
  const Dims dims = {6, 2, 24};
  const std::vector<Sequence<TypeParam>> seqs = {{dims, 140, 7}};
  ForEachSimdTarget([&] {
    const auto whole = Attend(dims, seqs, WholeAtOnce(seqs));
    for (const int64_t split : {1, 2, 31, 32, 63, 64, 65, 127, 128, 129, 139}) {
      ExpectSameBits(
          Attend(dims, seqs, {{{0, 0, split}}, {{0, split, 140 - split}}}, {.threads = 1}), whole);
    }
    std::vector<Step> tokens;
    for (int64_t t = 0; t < 140; ++t) tokens.push_back({{0, t, 1}});
    ExpectSameBits(Attend(dims, seqs, tokens, {.threads = 1}), whole);
  });
}

TYPED_TEST(AttentionOrder, BatchMatesChangeNothing) {
  const Dims dims = {12, 2, 20};
  const std::vector<Sequence<TypeParam>> seqs = {
      {dims, 100, 1}, {dims, 1, 2}, {dims, 130, 3}, {dims, 65, 4}};
  std::vector<Step> alone;
  for (size_t n = 0; n < seqs.size(); ++n) alone.push_back({{n, 0, seqs[n].length}});
  const auto want = Attend(dims, seqs, alone);
  ExpectSameBits(Attend(dims, seqs, WholeAtOnce(seqs)), want);
  // Prefill, decode and an empty sequence in one step, sequences in any order.
  const std::vector<Step> mixed = {{{2, 0, 129}, {0, 0, 50}},
                                   {{0, 50, 13}, {2, 129, 1}, {3, 0, 0}, {1, 0, 1}},
                                   {{3, 0, 64}, {0, 63, 37}},
                                   {{3, 64, 1}}};
  ExpectSameBits(Attend(dims, seqs, mixed), want);
}

TYPED_TEST(AttentionOrder, ThreadsTablesAndStridesChangeNothing) {
  const Dims dims = {8, 4, 33};
  const std::vector<Sequence<TypeParam>> seqs = {{dims, 150, 1}, {dims, 80, 2}};
  const auto want = Attend(dims, seqs, WholeAtOnce(seqs));
  for (const int threads : {1, 3}) {
    ExpectSameBits(Attend(dims, seqs, WholeAtOnce(seqs), {.threads = threads}), want);
  }
  for (const uint64_t seed : {2, 3}) {
    ExpectSameBits(Attend(dims, seqs, WholeAtOnce(seqs), {.table_seed = seed}), want);
  }
  ExpectSameBits(Attend(dims, seqs, WholeAtOnce(seqs), {.q_pad = 5}), want);
  const auto ref = Attend(dims, seqs, WholeAtOnce(seqs), {.impl = "ref"});
  ExpectSameBits(
      Attend(dims, seqs, WholeAtOnce(seqs), {.impl = "ref", .table_seed = 4, .q_pad = 3}), ref);
}

TEST(Attention, LaterTokensInfinitiesStayOut) {
  const Dims dims = {4, 2, 16};
  std::vector<Sequence<float>> seqs = {{dims, 90, 1}};
  const auto want = Attend(dims, seqs, {{{0, 0, 70}}})[0];
  for (size_t i = 70 * 32; i < 90 * 32; ++i) seqs[0].v[i] = i % 2 == 0 ? INFINITY : NAN;
  for (size_t i = 70 * 32; i < 90 * 32; ++i) seqs[0].k[i] = NAN;
  auto got = Attend(dims, seqs, WholeAtOnce(seqs))[0];
  for (size_t i = 0; i < 70 * 64; ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want[i])) << i;
  }
  EXPECT_TRUE(std::isnan(got[70 * 64]));
}

TEST(Attention, HugeScoresNeitherOverflowNorBlur) {
  const Dims dims = {1, 1, 1};
  std::vector<Sequence<float>> seqs = {{dims, 130, 9}};
  for (const float step : {1e36F, -1e36F}) {
    for (size_t t = 0; t < 130; ++t) {
      seqs[0].q[t] = 1;
      seqs[0].k[t] = step * static_cast<float>(t);
    }
    for (const char* impl : {"ref", "attention_paged"}) {
      const auto got = Attend(dims, seqs, WholeAtOnce(seqs), {.impl = impl})[0];
      for (size_t t = 0; t < 130; ++t) ASSERT_EQ(got[t], seqs[0].v[step > 0 ? t : 0]) << impl;
    }
  }
}

// ---- the store ----

TEST(KvCacheStore, CopiesBitsToTheRowsOfTheTableAndNoOthers) {
  const Shape cache_shape{4, 2, kKvBlockSize, 3};
  for (const char* impl : {"ref", "kv_cache_store"}) {
    std::vector<F16> k_cache(static_cast<size_t>(cache_shape.NumElements()), F16{0xABCD});
    std::vector<F16> v_cache = k_cache;
    std::vector<F16> rows(40 * 10);  // of a token: k heads 3 + 3, v heads 3 + pad
    for (size_t i = 0; i < rows.size(); ++i) rows[i].bits = static_cast<uint16_t>(i + 1);
    std::vector<int32_t> positions(40), table = {3, -1, 2, 1};
    for (int t = 0; t < 30; ++t) positions[static_cast<size_t>(t)] = t + 5;
    for (int t = 30; t < 40; ++t) positions[static_cast<size_t>(t)] = t + 30;  // 60 .. 69
    const std::vector<int32_t> cu_seqlens = {0, 30, 30 + 10};
    ThreadPool pool(2);
    ExecContext ctx;
    ctx.pool = &pool;
    ctx.impl = impl;
    KvCacheStoreArgs args;
    args.k = ConstTensor(rows.data(), Shape{40, 2, 3});
    args.k.strides = {10, 3, 1};
    args.v = ConstTensor(rows.data() + 6, Shape{40, 2, 3});
    args.v.strides = {10, 1, 1};
    args.index = {positions, cu_seqlens, table, 2};
    args.cache = {Tensor(k_cache.data(), cache_shape), Tensor(v_cache.data(), cache_shape)};
    const Status status = KvCacheStore(ctx, args);
    ASSERT_TRUE(status.ok()) << status.message();
    size_t written = 0;
    for (const F16 x : k_cache) written += x.bits != 0xABCD;
    EXPECT_EQ(written, 40U * 2 * 3);
    for (size_t t = 0; t < 40; ++t) {
      const auto position = static_cast<size_t>(positions[t]);
      const size_t block = t < 30 ? 3 : position < 64 ? 2 : 1;
      for (size_t h = 0; h < 2; ++h) {
        for (size_t d = 0; d < 3; ++d) {
          const size_t at = ((block * 2 + h) * 64 + position % 64) * 3 + d;
          EXPECT_EQ(k_cache[at].bits, rows[t * 10 + h * 3 + d].bits);
          EXPECT_EQ(v_cache[at].bits, rows[t * 10 + 6 + h + d].bits);
        }
      }
    }
  }
}

// ---- errors ----

class AttentionErrors : public testing::Test {
 protected:
  AttentionErrors() : scratch_(AttentionScratchBytes(4, 8, 1)) {
    ctx_.pool = &pool_;
    ctx_.scratch = Scratch(scratch_);
    const KvCacheView cache = {Tensor(k_cache_.data(), Shape{3, 2, 64, 8}),
                               Tensor(v_cache_.data(), Shape{3, 2, 64, 8})};
    store_.k = ConstTensor(k_.data(), Shape{3, 2, 8});
    store_.v = ConstTensor(k_.data(), Shape{3, 2, 8});
    store_.cache = cache;
    args_.q = ConstTensor(q_.data(), Shape{3, 4, 8});
    args_.cache = cache;
    args_.scale = 1;
    args_.out = Tensor(out_.data(), Shape{3, 4, 8});
    SetIndex();
  }
  void SetIndex() { store_.index = args_.index = {positions_, cu_seqlens_, table_, 2}; }
  void ExpectStoreError(const char* text) {
    const Status status = KvCacheStore(ctx_, store_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }
  void ExpectError(const char* text) {
    const Status status = Attention(ctx_, args_);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  }
  void ExpectIndexError(const char* text) {
    SetIndex();
    ExpectStoreError(text);
    ExpectError(text);
  }

  std::vector<float> q_ = std::vector<float>(3 * 4 * 8), k_ = std::vector<float>(3 * 2 * 8);
  std::vector<float> out_ = q_;
  std::vector<float> k_cache_ = std::vector<float>(3 * 2 * 64 * 8), v_cache_ = k_cache_;
  std::vector<int32_t> positions_ = {63, 64, 0}, cu_seqlens_ = {0, 2, 3}, table_ = {1, 2, 2, -1};
  std::vector<std::byte> scratch_;
  ThreadPool pool_{1};
  ExecContext ctx_;
  KvCacheStoreArgs store_;
  AttentionArgs args_;
};

TEST_F(AttentionErrors, NoneForTheFixture) {
  EXPECT_TRUE(KvCacheStore(ctx_, store_).ok());
  EXPECT_TRUE(Attention(ctx_, args_).ok());
}

TEST_F(AttentionErrors, NoTokensIsNoWork) {
  positions_.clear();
  cu_seqlens_ = {0, 0, 0};
  SetIndex();
  store_.k = store_.v = ConstTensor(k_.data(), Shape{0, 2, 8});
  args_.q = ConstTensor(q_.data(), Shape{0, 4, 8});
  args_.out = Tensor(out_.data(), Shape{0, 4, 8});
  EXPECT_TRUE(KvCacheStore(ctx_, store_).ok());
  EXPECT_TRUE(Attention(ctx_, args_).ok());
}

TEST_F(AttentionErrors, Positions) {
  positions_ = {63, 63, 0};
  ExpectIndexError("positions[1] is 63, want 64 to 127");
  positions_ = {63, 128, 0};
  ExpectIndexError("positions[1] is 128, want 64 to 127");
  positions_ = {-1, 64, 0};
  ExpectIndexError("positions[0] is -1, want 0 to 127");
  positions_ = {63, 64};
  ExpectIndexError("positions has 2 entries, want T=3");
}

TEST_F(AttentionErrors, CuSeqlens) {
  cu_seqlens_ = {0, 2, 2};
  ExpectIndexError("cu_seqlens ends at 2");
}

TEST_F(AttentionErrors, BlockTable) {
  table_ = {1, 0, 2, -1};
  ExpectIndexError("block_table[0, 1] is 0, want 1 to 2");
  table_ = {1, 2, 3, -1};
  ExpectIndexError("block_table[1, 0] is 3, want 1 to 2");
  table_ = {1, 2, 2};
  ExpectIndexError("block_table has 3 entries, want N=2 times 2");
}

TEST_F(AttentionErrors, Cache) {
  const KvCacheView good = args_.cache;
  args_.cache.k = store_.cache.k = Tensor(k_cache_.data(), Shape{6, 64, 8});
  ExpectStoreError("the key cache is f32 [6, 64, 8]");
  ExpectError("the key cache is f32 [6, 64, 8]");
  args_.cache = store_.cache = good;
  args_.cache.v = store_.cache.v = Tensor(v_cache_.data(), Shape{3, 1, 64, 8});
  ExpectStoreError("the value cache is f32 [3, 1, 64, 8]");
  ExpectError("the value cache is f32 [3, 1, 64, 8]");
  args_.cache = store_.cache = good;
  args_.cache.k.strides[0] = store_.cache.k.strides[0] = 2000;
  ExpectStoreError("the key cache is strided");
  ExpectError("the key cache is strided");
}

TEST_F(AttentionErrors, KeysAndValues) {
  store_.v = ConstTensor(k_.data(), Shape{3, 1, 8});
  ExpectStoreError("v is f32 [3, 1, 8], want f32 [T=3, Hkv=2, head_dim=8]");
  store_.k = ConstTensor(k_.data(), Shape{6, 8});
  ExpectStoreError("k is f32 [6, 8], want [T, heads, head_dim]");
}

TEST_F(AttentionErrors, Queries) {
  args_.q = ConstTensor(q_.data(), Shape{3, 3, 8});
  args_.out = Tensor(out_.data(), Shape{3, 3, 8});
  ExpectError("q has Hq=3 heads, want a multiple of Hkv=2");
  args_.q = ConstTensor(q_.data(), Shape{3, 4, 4});
  ExpectError("want f32 [blocks=3, Hkv=2, block=64, head_dim=4]");
  args_.q = ConstTensor(q_.data(), Shape{3, 4, 513});
  ExpectError("head_dim 1 to 512");
  args_.q = ConstTensor(q_.data(), Shape{3, 4, 8});
  args_.q.strides[0] = -32;
  args_.out = Tensor(out_.data(), Shape{3, 4, 8});
  ExpectError("q has a negative stride");
}

TEST_F(AttentionErrors, Out) {
  args_.out = Tensor(out_.data(), Shape{3, 4, 7});
  ExpectError("out is f32 [3, 4, 7]");
  args_.out = Tensor(q_.data(), Shape{3, 4, 8});
  ExpectError("out overlaps q");
  args_.out.strides[0] = 40;
  ExpectError("out is strided");
}

}  // namespace
}  // namespace gdn
