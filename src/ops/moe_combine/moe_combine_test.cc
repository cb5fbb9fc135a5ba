// SPDX-License-Identifier: Apache-2.0
#include "ops/moe_combine/moe_combine.h"

#include <gmock/gmock.h>

#include "ops/common/testing/simd_targets.h"
#include "ops/common/testing/test_rows.h"

namespace gdn {
namespace {

constexpr MoeCombineOrder kBoth[] = {MoeCombineOrder::kRoundedExperts,
                                     MoeCombineOrder::kFusedKernel};

// The inputs of one call, and outputs that start as NaN.
struct Problem {
  Problem(const RowsCase& size, int64_t top_k_in, int64_t gap_in, MoeCombineOrder order_in)
      : dtype(std::get<0>(size)),
        rows(std::get<1>(size)),
        top_k(top_k_in),
        hidden(std::get<2>(size)),
        gap(gap_in),
        order(order_in),
        experts(order == MoeCombineOrder::kFusedKernel ? DType::kF32 : dtype, rows * top_k, hidden,
                hidden + gap),
        weights(DType::kF32, rows, top_k),
        shared(dtype, rows, hidden, hidden + 2 * gap),
        logit(dtype, rows, 1, 1 + gap),
        out(dtype, rows, hidden, hidden + 3 * gap),
        routed(dtype, rows, hidden, hidden + 4 * gap),
        shared_out(dtype, rows, hidden, hidden + gap) {
    experts.FillNormal(1);
    weights.FillNormal(2, 0.3F);
    shared.FillNormal(3);
    logit.FillNormal(4, 2);
  }

  MoeCombineArgs Args(bool with_shared = true) {
    MoeCombineArgs args;
    args.expert_out = ConstTensor(experts.view().data, experts.view().dtype, {rows, top_k, hidden});
    args.expert_out.strides[0] = top_k * (hidden + gap);
    args.expert_out.strides[1] = hidden + gap;
    args.weights = weights.view();
    args.order = order;
    args.out = out.view();
    args.routed = routed.view();
    if (!with_shared) return args;
    args.shared = shared.view();
    args.shared_gate_logit = logit.view();
    args.shared_out = shared_out.view();
    return args;
  }
  void Run(const MoeCombineArgs& args, std::string_view impl = "", int threads = 1) {
    TestContext context(threads);
    const Status status = MoeCombine(context(impl), args);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(out.GapsUntouched() && routed.GapsUntouched() && shared_out.GapsUntouched());
  }

  DType dtype;
  int64_t rows, top_k, hidden, gap;
  MoeCombineOrder order;
  TestRows experts, weights, shared, logit, out, routed, shared_out;
};

class MoeCombineCases : public testing::TestWithParam<RowsCase> {};

TEST_P(MoeCombineCases, EveryTargetHasTheBitsOfTheReference) {
  const RowsCase size = GetParam();
  for (const MoeCombineOrder order : kBoth) {
    for (const int64_t top_k : {1, 3, 8}) {
      for (const bool with_shared : {true, false}) {
        const int64_t gap = with_shared ? 5 : 0;
        Problem want(size, top_k, gap, order);
        want.Run(want.Args(with_shared), "ref");
        if (!with_shared) {
          EXPECT_EQ(want.out.bytes(), want.routed.bytes());
        }
        ForEachSimdTarget([&] {
          Problem got(size, top_k, gap, order);
          got.Run(got.Args(with_shared), "moe_combine_");
          EXPECT_EQ(got.out.bytes(), want.out.bytes());
          EXPECT_EQ(got.routed.bytes(), want.routed.bytes());
          EXPECT_EQ(got.shared_out.bytes(), want.shared_out.bytes());
        });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MoeCombineCases,
                         testing::Combine(testing::Values(DType::kF32, DType::kF16, DType::kBf16),
                                          testing::Values<int64_t>(0, 1, 2, 65),
                                          testing::Values<int64_t>(1, 3, 16, 127, 257)),
                         RowsCaseName);

// Every rounding point of the header, with its absence telling itself apart.
TEST(MoeCombine, ReferenceRoundsWhereTheHeaderSays) {
  for (const MoeCombineOrder order : kBoth) {
    Problem p({DType::kBf16, 4, 512}, 3, 0, order);
    p.Run(p.Args(), "ref");
    const bool fused = order == MoeCombineOrder::kFusedKernel;
    std::vector<float> routed, shared, out, other_routed, other_shared, other_out;
    for (int64_t t = 0; t < 4; ++t) {
      const auto gate = static_cast<float>(1 / (1 + std::exp(-double{p.logit.At(t, 0)})));
      for (int64_t i = 0; i < 512; ++i) {
        float sum = 0;
        float other_sum = 0;
        for (int64_t k = 0; k < 3; ++k) {
          const float product = p.weights.At(t, k) * p.experts.At(t * 3 + k, i);
          sum += fused ? RoundTo<Bf16>(product) : product;
          other_sum += fused ? product : RoundTo<Bf16>(product);
        }
        routed.push_back(RoundTo<Bf16>(sum));
        shared.push_back(RoundTo<Bf16>(RoundTo<Bf16>(gate) * p.shared.At(t, i)));
        out.push_back(RoundTo<Bf16>(routed.back() + shared.back()));
        other_routed.push_back(RoundTo<Bf16>(other_sum));
        other_shared.push_back(RoundTo<Bf16>(gate * p.shared.At(t, i)));
        other_out.push_back(RoundTo<Bf16>(sum + shared.back()));
      }
    }
    EXPECT_EQ(Compare(p.routed.Values(), routed).differ, 0U);
    EXPECT_EQ(Compare(p.shared_out.Values(), shared).differ, 0U);
    EXPECT_EQ(Compare(p.out.Values(), out).differ, 0U);
    EXPECT_GT(Compare(p.routed.Values(), other_routed).differ, 200U);
    EXPECT_GT(Compare(p.shared_out.Values(), other_shared).differ, 200U);
    EXPECT_GT(Compare(p.out.Values(), other_out).differ, 200U);
  }
}

TEST(MoeCombine, OutDoesNotDependOnTheOtherOutputs) {
  Problem want({DType::kBf16, 3, 127}, 2, 0, MoeCombineOrder::kRoundedExperts);
  want.Run(want.Args());
  for (const std::string_view impl : {"ref", "moe_combine_"}) {
    Problem got({DType::kBf16, 3, 127}, 2, 0, MoeCombineOrder::kRoundedExperts);
    MoeCombineArgs args = got.Args();
    args.routed = args.shared_out = Tensor();
    got.Run(args, impl);
    EXPECT_EQ(got.out.bytes(), want.out.bytes());
  }
}

TEST(MoeCombine, OutOrSharedOutMayBeShared) {
  for (const std::string_view impl : {"ref", "moe_combine_"}) {
    Problem want({DType::kF16, 3, 127}, 2, 0, MoeCombineOrder::kRoundedExperts);
    want.Run(want.Args(), impl);
    Problem got = want;
    MoeCombineArgs args = got.Args();
    args.out = got.shared.view();
    got.Run(args, impl);
    EXPECT_EQ(got.shared.bytes(), want.out.bytes());
    got = want;
    args = got.Args();
    args.shared_out = got.shared.view();
    got.Run(args, impl);
    EXPECT_EQ(got.shared.bytes(), want.shared_out.bytes());
    EXPECT_EQ(got.out.bytes(), want.out.bytes());
  }
}

TEST(MoeCombine, ExpertRowsMayLieInAnyOrder) {
  Problem p({DType::kBf16, 5, 33}, 3, 0, MoeCombineOrder::kRoundedExperts);
  p.Run(p.Args());
  TestRows by_k(DType::kBf16, 15, 33);  // [top_k, T, H]
  for (int64_t row = 0; row < 15; ++row) {
    for (int64_t i = 0; i < 33; ++i) by_k.Set(row % 3 * 5 + row / 3, i, p.experts.At(row, i));
  }
  for (const std::string_view impl : {"ref", "moe_combine_"}) {
    Problem got({DType::kBf16, 5, 33}, 3, 0, MoeCombineOrder::kRoundedExperts);
    MoeCombineArgs args = got.Args();
    args.expert_out.data = by_k.view().data;
    args.expert_out.strides[0] = 33;
    args.expert_out.strides[1] = 5 * int64_t{33};
    got.Run(args, impl);
    EXPECT_EQ(got.out.bytes(), p.out.bytes());
  }
}

TEST(MoeCombine, RowsDoNotDependOnTheBatchOrTheThreads) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    for (const MoeCombineOrder order : kBoth) {
      Problem one({dtype, 65, 1024}, 4, 0, order);
      one.Run(one.Args());
      Problem three({dtype, 65, 1024}, 4, 0, order);
      three.Run(three.Args(), "", 3);
      EXPECT_EQ(one.out.bytes(), three.out.bytes());
      EXPECT_EQ(one.routed.bytes(), three.routed.bytes());
      Problem few({dtype, 2, 1024}, 4, 0, order);  // the first rows of the others
      few.Run(few.Args());
      EXPECT_EQ(few.out.RowBytes(1), one.out.RowBytes(1));
    }
  }
}

}  // namespace
}  // namespace gdn
