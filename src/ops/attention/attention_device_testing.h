// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "ops/attention/attention.h"
#include "ops/common/testing/device_testing.h"

namespace gdn {
namespace {

struct Dims {
  int64_t num_heads;
  int64_t num_kv_heads;
  int64_t head_dim;
};

// Sequences in a paged cache, whose blocks descend, on both sides. All that no token was stored to
// is NaN. The last token's key and value may be infinite.
class Paged {
 public:
  Paged(DType dtype, const Dims& dims, std::vector<int32_t> lengths, bool last_is_infinite = false)
      : dtype_(dtype),
        dims_(dims),
        lengths_(std::move(lengths)),
        max_blocks_(*std::ranges::max_element(lengths_) / kKvBlockSize + 2) {
    const auto num_seqs = static_cast<int64_t>(lengths_.size());
    const int64_t blocks = num_seqs * max_blocks_ + 1;
    for (int64_t block = blocks - 1; block >= 1; --block) {
      table_.push_back(static_cast<int32_t>(block));
    }
    cu_seqlens_ = {0};
    for (const int32_t length : lengths_) {
      for (int32_t t = 0; t < length; ++t) positions_.push_back(t);
      cu_seqlens_.push_back(static_cast<int32_t>(positions_.size()));
    }
    const auto tokens = static_cast<int64_t>(positions_.size());
    const int64_t kv = dims.num_kv_heads * (dims.head_dim + 1);
    k_ = std::make_unique<TestRows>(dtype, tokens, kv + 1);
    v_ = std::make_unique<TestRows>(dtype, tokens, kv + 2);
    q_ = std::make_unique<TestRows>(dtype, tokens, 1 + dims.num_heads * (dims.head_dim + 3));
    k_->FillNormal(1);
    v_->FillNormal(2);
    q_->FillNormal(3);
    if (last_is_infinite) {
      for (int64_t i = 0; i < kv; ++i) {
        k_->Set(tokens - 1, i, INFINITY);
        v_->Set(tokens - 1, i, INFINITY);
      }
    }
    const int64_t cache_rows = blocks * dims.num_kv_heads * kKvBlockSize;
    k_cache_ = std::make_unique<TestRows>(dtype, cache_rows, dims.head_dim);
    v_cache_ = std::make_unique<TestRows>(dtype, cache_rows, dims.head_dim);
    for (TestRows* rows : {k_.get(), v_.get(), q_.get(), k_cache_.get(), v_cache_.get()}) {
      device_.push_back(std::make_unique<DeviceRows>(*rows));
    }
  }

  int64_t num_tokens() const { return static_cast<int64_t>(positions_.size()); }
  float Scale() const { return 1 / std::sqrt(static_cast<float>(dims_.head_dim)); }

  void Store(const ExecContext& ctx) {
    KvCacheStoreArgs args;
    args.k = Heads(View(ctx, 0), 0, dims_.num_kv_heads, 1);
    args.v = Heads(View(ctx, 1), 1, dims_.num_kv_heads, 1);
    args.index = Index();
    args.cache = Cache(ctx);
    const Status status = KvCacheStore(ctx, args);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void FetchCaches() {
    device_[3]->Fetch();
    device_[4]->Fetch();
  }
  const std::vector<std::byte>& k_cache() const { return k_cache_->bytes(); }
  const std::vector<std::byte>& v_cache() const { return v_cache_->bytes(); }

  // out of all tokens.
  void AttendAll(const ExecContext& ctx, const Tensor& out) {
    AttentionArgs args;
    args.q = Heads(View(ctx, 2), 1, dims_.num_heads, 3);
    args.cache = Cache(ctx);
    args.index = Index();
    args.scale = Scale();
    args.out = out.SplitLast(dims_.num_heads, dims_.head_dim);
    const Status status = Attention(ctx, args);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  // The last token of one sequence, alone.
  void AttendLast(const ExecContext& ctx, size_t seq, const Tensor& out) {
    const int64_t token = cu_seqlens_[seq + 1] - 1;
    Attend(ctx, seq, token, token, out.Slice(token, 1));
  }
  // A token of that sequence, alone, with the query of q_token.
  void Attend(const ExecContext& ctx, size_t seq, int64_t token, int64_t q_token,
              const Tensor& out) {
    AttentionArgs args;
    args.q = Heads(View(ctx, 2), 1, dims_.num_heads, 3).Slice(q_token, 1);
    args.cache = Cache(ctx);
    const std::vector<int32_t> cu_seqlens = {0, 1};
    args.index = {std::span(positions_).subspan(static_cast<size_t>(token), 1), cu_seqlens,
                  std::span(table_).subspan(seq * static_cast<size_t>(max_blocks_),
                                            static_cast<size_t>(max_blocks_)),
                  max_blocks_};
    args.scale = Scale();
    args.out = out.SplitLast(dims_.num_heads, dims_.head_dim);
    const Status status = Attention(ctx, args);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  TestRows NewOut() const {
    return TestRows(dtype_, num_tokens(), dims_.num_heads * dims_.head_dim);
  }

 private:
  Tensor View(const ExecContext& ctx, size_t which) {
    if (ctx.device.type != DeviceType::kCpu) return device_[which]->view();
    TestRows* const rows[] = {k_.get(), v_.get(), q_.get(), k_cache_.get(), v_cache_.get()};
    return rows[which]->view();
  }
  // Heads of a token's row, with gap elements after each.
  Tensor Heads(const Tensor& rows, int64_t first, int64_t num_heads, int64_t gap) const {
    return rows.Columns(first, num_heads * (dims_.head_dim + gap))
        .SplitLast(num_heads, dims_.head_dim + gap)
        .Columns(0, dims_.head_dim);
  }
  PagedIndex Index() const { return {positions_, cu_seqlens_, table_, max_blocks_}; }
  KvCacheView Cache(const ExecContext& ctx) {
    const Shape shape{static_cast<int64_t>(table_.size()) + 1, dims_.num_kv_heads, kKvBlockSize,
                      dims_.head_dim};
    return {View(ctx, 3).Reshape(shape), View(ctx, 4).Reshape(shape)};
  }

  DType dtype_;
  Dims dims_;
  std::vector<int32_t> lengths_;
  int64_t max_blocks_;
  std::vector<int32_t> table_, positions_, cu_seqlens_;
  std::unique_ptr<TestRows> k_, v_, q_, k_cache_, v_cache_;
  std::vector<std::unique_ptr<DeviceRows>> device_;
};

using Case = std::tuple<DType, Dims>;
std::string CaseName(const testing::TestParamInfo<Case>& info) {
  const Dims& dims = std::get<1>(info.param);
  return StrCat(Name(std::get<0>(info.param)), "_Hq", dims.num_heads, "_Hkv", dims.num_kv_heads,
                "_D", dims.head_dim);
}

class AttentionDeviceCases : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Dims, AttentionDeviceCases,
                         testing::Combine(testing::Values(DType::kF32),
                                          testing::Values(Dims{1, 1, 3}, Dims{3, 3, 80},
                                                          Dims{20, 1, 8}, Dims{1, 1, 512})),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(DTypes, AttentionDeviceCases,
                         testing::Combine(testing::Values(DType::kF32, DType::kF16, DType::kBf16),
                                          testing::Values(Dims{8, 2, 64}, Dims{3, 1, 256})),
                         CaseName);

TEST_P(AttentionDeviceCases, IsWithinARoundingOfTheReference) {
  const auto& [dtype, dims] = GetParam();
  Paged paged(dtype, dims, {1, 64, 0, 65, 130});
  TestContext context;
  const ExecContext device = TestDevice::Context();
  paged.Store(device);
  paged.FetchCaches();
  const std::vector<std::byte> k_cache = paged.k_cache();
  const std::vector<std::byte> v_cache = paged.v_cache();
  paged.Store(context("ref"));
  EXPECT_EQ(paged.k_cache(), k_cache);
  EXPECT_EQ(paged.v_cache(), v_cache);

  TestRows got = paged.NewOut();
  DeviceRows got_device(got);
  TestRows want = got;
  paged.AttendAll(device, got_device.view());
  got_device.Fetch();
  paged.AttendAll(context("ref"), want.view());
  EXPECT_TRUE(got.GapsUntouched());
  // Of a weighted mean of values near 1, in f32; 16 bits add a step where that crosses an edge.
  const Difference difference = Compare(got.Values(), want.Values(), dtype);
  const double step = dtype == DType::kF32 ? 0 : dtype == DType::kF16 ? 0x1p-9 : 0x1p-6;
  EXPECT_LE(difference.max_abs, 2e-6 + step);
  const size_t count = want.Values().size();
  EXPECT_LE(difference.differ, dtype == DType::kF32 ? count : count / 50 + 1);
}

// Up to a chunk of keys the sums are those of the CPU's kernel.
TEST_P(AttentionDeviceCases, HasTheBitsOfTheCpuWhereItsArithmeticHas) {
  if (!TestDevice::HasReferenceBits()) return;
  const auto& [dtype, dims] = GetParam();
  Paged paged(dtype, dims, {1, 64, 0, 65, 130, 200});
  const ExecContext device = TestDevice::Context();
  TestContext context;
  ExecContext cpu = context();
  std::vector<std::byte> scratch(AttentionScratchBytes(dims.num_heads, dims.head_dim, 1));
  cpu.scratch = Scratch(scratch);
  paged.Store(device);
  paged.Store(cpu);
  TestRows got = paged.NewOut();
  DeviceRows got_device(got);
  TestRows want = got;
  paged.AttendAll(device, got_device.view());
  got_device.Fetch();
  paged.AttendAll(cpu, want.view());
  EXPECT_EQ(got.bytes(), want.bytes());
}

// Chunks of keys, alone and in order, in one workgroup and in many, with and without other
// sequences.
TEST_P(AttentionDeviceCases, GivesARowTheSameBitsHoweverItIsComputed) {
  const auto& [dtype, dims] = GetParam();
  // One to three chunks.
  const std::vector<int32_t> lengths =
      dims.head_dim < 64 ? std::vector<int32_t>{5, 256, 257, 520} : std::vector<int32_t>{5, 257};
  Paged paged(dtype, dims, lengths);
  ExecContext device = TestDevice::Context();
  paged.Store(device);
  TestRows all = paged.NewOut();
  DeviceRows all_device(all);
  paged.AttendAll(device, all_device.view());
  all_device.Fetch();
  const Result<Storage> scratch = device.backend->memory().Allocate(size_t{1} << 20, "a test");
  ASSERT_TRUE(scratch.ok());
  for (const bool with_scratch : {false, true}) {
    TestRows last = paged.NewOut();
    DeviceRows last_device(last);
    if (with_scratch) device.scratch = Scratch({scratch->data(), scratch->size_bytes()});
    const int64_t before = TestDevice::Get().work().dispatches;
    for (size_t seq = 0; seq < lengths.size(); ++seq) {
      paged.AttendLast(device, seq, last_device.view());
    }
    // Those of several chunks are split and joined.
    const auto num_seqs = static_cast<int64_t>(lengths.size());
    const int64_t split = std::ranges::count_if(lengths, [](int32_t n) { return n > 256; });
    EXPECT_EQ(TestDevice::Get().work().dispatches - before, num_seqs + (with_scratch ? split : 0));
    last_device.Fetch();
    int64_t token = -1;
    for (const int32_t length : lengths) {
      token += length;
      EXPECT_EQ(last.RowBytes(token), all.RowBytes(token)) << "sequence of " << length;
    }
  }
}

// What lies behind a token's own position is never used, not even multiplied by 0.
TEST(AttentionDevice, DoesNotUseWhatATokenDoesNotSee) {
  Paged paged(DType::kF32, {2, 1, 16}, {40}, /*last_is_infinite=*/true);
  const ExecContext device = TestDevice::Context();
  paged.Store(device);
  TestRows out = paged.NewOut();
  DeviceRows out_device(out);
  paged.AttendAll(device, out_device.view());
  out_device.Fetch();
  for (int64_t t = 0; t < 39; ++t) EXPECT_TRUE(std::isfinite(out.At(t, 0))) << t;
  EXPECT_FALSE(std::isfinite(out.At(39, 0)));
}

}  // namespace
}  // namespace gdn
