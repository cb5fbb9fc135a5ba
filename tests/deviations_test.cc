// SPDX-License-Identifier: Apache-2.0
// The sizes in docs/deviations.md: each operator as we run it against the same step as the
// reference (or one of its paths) rounds it, in bf16 on random inputs. Prints what it measures; a
// deviation that is zero, or larger than said there, fails.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "base/rng.h"
#include "ops/attention/attention.h"
#include "ops/causal_conv1d/causal_conv1d.h"
#include "ops/common/scalar_math.h"
#include "ops/common/testing/test_tensor.h"
#include "ops/gdn_prep/gdn_prep.h"
#include "ops/moe_combine/moe_combine.h"
#include "ops/rope/rope.h"
#include "ops/sigmoid_mul/sigmoid_mul.h"

namespace gdn {
namespace {

float Round(float x) { return RoundTo<Bf16>(x); }

class Deviations : public testing::Test {
 protected:
  TestTensor Normal(const Shape& shape, DType dtype = DType::kBf16, double deviation = 1) {
    TestTensor out(dtype, shape);
    for (int64_t i = 0; i < out.size(); ++i) out.Set(i, deviation * rng_.NextNormal());
    return out;
  }
  static TestTensor Zeros(const Shape& shape, DType dtype = DType::kBf16) {
    TestTensor out(dtype, shape);
    out.Fill(0);
    return out;
  }
  ExecContext Context(size_t scratch_bytes = 0) {
    scratch_ = std::vector<std::byte>(scratch_bytes + 64);
    const size_t offset = (64 - reinterpret_cast<uintptr_t>(scratch_.data()) % 64) % 64;
    return {.pool = &pool_, .scratch = Scratch(std::span(scratch_).subspan(offset))};
  }
  // The share of the elements that differ, in percent, and the NMSE.
  static void ExpectDistance(const char* what, const TestTensor& ours, const TestTensor& theirs,
                             double want_percent, double want_nmse) {
    const Distance d = DistanceOf(ours, theirs);
    const double percent = 100.0 * static_cast<double>(d.differ) / static_cast<double>(d.count);
    std::printf("%-46s differ %6.2f%% of %6lld  max %.1e  nmse %.1e\n", what, percent,
                static_cast<long long>(d.count), d.max_abs, d.nmse);
    EXPECT_NEAR(percent, want_percent, want_percent / 10) << what;
    EXPECT_NEAR(d.nmse, want_nmse, want_nmse / 10) << what;
  }

  Rng rng_{20};
  ThreadPool pool_{1};
  std::vector<std::byte> scratch_;
};

TEST_F(Deviations, ProductsOfTheConvolution) {
  const TestTensor x = Normal({64, 512});
  const TestTensor weight = Normal({512, 4}, DType::kBf16, 0.5);
  const std::vector<int32_t> cu_seqlens = {0, 64};
  const std::vector<int32_t> slots = {1};
  const std::vector<uint8_t> fresh = {0};
  const auto run = [&](ConvProduct product) {
    TestTensor state = Zeros({2, 3, 512});
    TestTensor out = Zeros({64, 512});
    TestTensor x_copy = x;
    TestTensor weight_copy = weight;
    const Status status = CausalConv1d(Context(), {.x = x_copy.view(),
                                                   .weight = weight_copy.view(),
                                                   .state = state.view(),
                                                   .cu_seqlens = cu_seqlens,
                                                   .state_slots = slots,
                                                   .has_initial_state = fresh,
                                                   .product = product,
                                                   .out = out.view()});
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  };
  ExpectDistance("convolution: products kept wide", run(ConvProduct::kRounded),
                 run(ConvProduct::kWide), 34.8, 8.0e-06);
}

TEST_F(Deviations, RopeInTheModelsDtype) {
  constexpr int64_t kTokens = 64;
  constexpr int64_t kDim = 64;
  TestTensor table(DType::kF32, {kTokens, kDim});
  FillRopeTable(Context(), 1e7, table.view());
  const TestTensor x = Normal({kTokens, 4, kDim});
  std::vector<int32_t> positions(kTokens);
  std::iota(positions.begin(), positions.end(), 0);
  TestTensor ours = x;
  ASSERT_TRUE(
      Rope(Context(), {.table = table.view(), .positions = positions, .x = ours.view()}).ok());
  const auto theirs = [&](bool round_products) {
    const auto product = [&](float a, float b) { return round_products ? Round(a * b) : a * b; };
    TestTensor out = x;
    for (int64_t row = 0; row < kTokens * 4; ++row) {
      for (int64_t i = 0; i < kDim / 2; ++i) {
        const float cos = Round(table.Get(row / 4 * kDim + i));
        const float sin = Round(table.Get(row / 4 * kDim + kDim / 2 + i));
        const float lo = x.Get(row * kDim + i);
        const float hi = x.Get(row * kDim + kDim / 2 + i);
        out.Set(row * kDim + i, product(lo, cos) - product(hi, sin));
        out.Set(row * kDim + kDim / 2 + i, product(hi, cos) + product(lo, sin));
      }
    }
    return out;
  };
  ExpectDistance("rope: cos and sin in bf16", ours, theirs(false), 11.8, 2.5e-06);
  ExpectDistance("rope: cos, sin and both products in bf16", ours, theirs(true), 16.3, 3.9e-06);
}

TEST_F(Deviations, SigmoidOfTheAttentionGate) {
  TestTensor x = Normal({256, 128});
  TestTensor gate = Normal({256, 128}, DType::kBf16, 2);
  TestTensor ours = Zeros({256, 128});
  ASSERT_TRUE(SigmoidMul(Context(), {.x = x.view(), .gate = gate.view(), .out = ours.view()}).ok());
  TestTensor theirs = Zeros({256, 128});
  for (int64_t i = 0; i < theirs.size(); ++i) {
    theirs.Set(i, x.Get(i) * Round(SigmoidF32(gate.Get(i))));
  }
  ExpectDistance("attention gate: sigmoid rounded", ours, theirs, 25.1, 6.5e-06);
}

TEST_F(Deviations, ProbabilitiesOfAttention) {
  constexpr int64_t kTokens = 64;
  constexpr int64_t kHeads = 4;
  constexpr int64_t kDim = 64;
  TestTensor q = Normal({kTokens, kHeads, kDim});
  TestTensor k = Normal({1, kHeads, kKvBlockSize, kDim});  // the rows of the one block
  TestTensor v = Normal({1, kHeads, kKvBlockSize, kDim});
  std::vector<int32_t> positions(kTokens);
  std::iota(positions.begin(), positions.end(), 0);
  const std::vector<int32_t> cu_seqlens = {0, kTokens};
  const std::vector<int32_t> block_table = {1};
  TestTensor k_cache = Zeros({2, kHeads, kKvBlockSize, kDim});
  TestTensor v_cache = k_cache;
  for (int64_t i = 0; i < k.size(); ++i) {
    k_cache.Set(k.size() + i, k.Get(i));
    v_cache.Set(k.size() + i, v.Get(i));
  }
  TestTensor ours = Zeros({kTokens, kHeads, kDim});
  constexpr float kScale = 0.125F;
  const Status status = Attention(Context(AttentionScratchBytes(kHeads, kDim, 1)),
                                  {.q = q.view(),
                                   .cache = {k_cache.view(), v_cache.view()},
                                   .index = {.positions = positions,
                                             .cu_seqlens = cu_seqlens,
                                             .block_table = block_table,
                                             .max_blocks = 1},
                                   .scale = kScale,
                                   .out = ours.view()});
  ASSERT_TRUE(status.ok()) << status.message();
  TestTensor theirs = ours;
  for (int64_t t = 0; t < kTokens; ++t) {
    for (int64_t h = 0; h < kHeads; ++h) {
      std::vector<float> p(static_cast<size_t>(t) + 1);
      float largest = -INFINITY;
      for (int64_t j = 0; j <= t; ++j) {
        float score = 0;
        for (int64_t d = 0; d < kDim; ++d) {
          score += q.Get((t * kHeads + h) * kDim + d) * k.Get((h * kKvBlockSize + j) * kDim + d);
        }
        p[static_cast<size_t>(j)] = score * kScale;
        largest = std::max(largest, score * kScale);
      }
      float sum = 0;
      for (float& x : p) sum += x = ExpF32(x - largest);
      for (int64_t d = 0; d < kDim; ++d) {
        float out = 0;
        for (int64_t j = 0; j <= t; ++j) {
          out += Round(p[static_cast<size_t>(j)]) * v.Get((h * kKvBlockSize + j) * kDim + d);
        }
        theirs.Set((t * kHeads + h) * kDim + d, out / sum);
      }
    }
  }
  ExpectDistance("attention: probabilities rounded", ours, theirs, 32.9, 3.1e-06);
}

TEST_F(Deviations, BetaOfDecode) {
  TestTensor qk = Normal({64, 1, 64});
  TestTensor ab = Normal({64, 8});
  TestTensor zeros = Zeros({8}, DType::kF32);
  TestTensor unused = Zeros({64, 1, 64}, DType::kF32);
  TestTensor unused2 = unused;
  TestTensor log_decay = Zeros({64, 8}, DType::kF32);
  const auto run = [&](DecodeBeta beta) {
    TestTensor out = log_decay;
    const Status status = GdnPrep(Context(), {.q = qk.view(),
                                              .k = qk.view(),
                                              .a = ab.view(),
                                              .b = ab.view(),
                                              .a_log = zeros.view(),
                                              .dt_bias = zeros.view(),
                                              .form = GdnForm::kDecode,
                                              .decode_beta = beta,
                                              .q_out = unused.view(),
                                              .k_out = unused2.view(),
                                              .log_decay = log_decay.view(),
                                              .beta = out.view()});
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  };
  ExpectDistance("decode: beta in f32 (mixed batches)", run(DecodeBeta::kRounded),
                 run(DecodeBeta::kF32), 100, 2.7e-06);
}

TEST_F(Deviations, SumOverExperts) {
  constexpr int64_t kTokens = 64;
  constexpr int64_t kHidden = 128;
  TestTensor wide = Normal({kTokens, 8, kHidden}, DType::kF32);
  TestTensor rounded(DType::kBf16, {kTokens, 8, kHidden});
  for (int64_t i = 0; i < wide.size(); ++i) rounded.Set(i, wide.Get(i));
  TestTensor weights(DType::kF32, {kTokens, 8});
  for (int64_t i = 0; i < weights.size(); ++i) weights.Set(i, 0.25 * rng_.NextUniform());
  const auto run = [&](MoeCombineOrder order) {
    TestTensor out = Zeros({kTokens, kHidden});
    TestTensor& experts = order == MoeCombineOrder::kFusedKernel ? wide : rounded;
    const Status status = MoeCombine(Context(), {.expert_out = experts.view(),
                                                 .weights = weights.view(),
                                                 .order = order,
                                                 .out = out.view()});
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  };
  ExpectDistance("experts: weight before the rounding", run(MoeCombineOrder::kRoundedExperts),
                 run(MoeCombineOrder::kFusedKernel), 48.6, 1.0e-05);
}

}  // namespace
}  // namespace gdn
