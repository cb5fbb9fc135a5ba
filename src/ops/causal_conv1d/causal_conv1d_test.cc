// SPDX-License-Identifier: Apache-2.0
#include "ops/causal_conv1d/causal_conv1d.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ops/causal_conv1d/causal_conv1d_testing.h"

namespace gdn {
namespace {

void RunArgs(const CausalConv1dArgs& args, std::string_view impl, int num_threads = 1) {
  ThreadPool pool(num_threads);
  ExecContext ctx;
  ctx.pool = &pool;
  ctx.impl = impl;
  const Status status = CausalConv1d(ctx, args);
  ASSERT_TRUE(status.ok()) << status.message();
}

void RunConv(ConvInputs& inputs, std::string_view impl, int num_threads = 1) {
  RunArgs(inputs.Args(), impl, num_threads);
}

class CausalConv1dKernels : public testing::TestWithParam<std::tuple<DType, int64_t>> {};

TEST_P(CausalConv1dKernels, MatchReference) {
  const auto dtype = std::get<0>(GetParam());
  const auto taps = std::get<1>(GetParam());
  const std::vector<std::vector<int64_t>> batches = {{1},
                                                     {2},
                                                     {3},
                                                     {4},
                                                     {63},
                                                     {64},
                                                     {65},
                                                     {66},
                                                     {67},
                                                     {130},
                                                     {20, 12},
                                                     {5, 130, 1, 64},
                                                     {62, 2, 1, 1, 1, 3, 64},
                                                     {0, 3, 0, 2, 0},
                                                     {}};
  for (const auto& lengths : batches) {
    for (const int64_t channels : {1, 7, 20, 300}) {
      for (const ConvProduct product : {ConvProduct::kRounded, ConvProduct::kWide}) {
        ConvInputs inputs({dtype, lengths, channels, taps});
        inputs.product = product;
        ConvInputs want = inputs;
        RunConv(want, "ref");
        ForEachSimdTarget([&] {
          ConvInputs got = inputs;
          RunConv(got, "");
          ExpectSame(got, want, dtype);
        });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CausalConv1dKernels,
                         testing::Combine(testing::Values(DType::kBf16, DType::kF16, DType::kF32),
                                          testing::Values(2, 3, 4)),
                         [](const auto& test) {
                           return std::string(Name(std::get<0>(test.param))) + "_Kc" +
                                  std::to_string(std::get<1>(test.param));
                         });

TEST(CausalConv1d, TheProductsRoundingIsSeen) {
  ConvInputs rounded({DType::kBf16, {20}, 256, 4});
  ForEachKernel([&](std::string_view impl) {
    ConvInputs a = rounded;
    ConvInputs b = rounded;
    b.product = ConvProduct::kWide;
    RunConv(a, impl);
    RunConv(b, impl);
    EXPECT_GT(DistanceOf(a.out, b.out).differ, a.out.size() / 10);
  });
}

TEST(CausalConv1d, ThreadsDoNotChangeBits) {
  const ConvInputs inputs({DType::kBf16, {5, 130, 1, 64}, 600, 4});
  ConvInputs one = inputs;
  RunConv(one, "");
  for (const int threads : {2, 3, 8}) {
    ConvInputs many = inputs;
    RunConv(many, "", threads);
    EXPECT_EQ(many.out, one.out);
    EXPECT_EQ(many.state, one.state);
  }
}

// Tokens [first, last) of inputs as a call of their own on the same pool.
void RunTokens(ConvInputs& inputs, std::string_view impl, int32_t first, int32_t last, int32_t slot,
               uint8_t has_initial_state) {
  CausalConv1dArgs args = inputs.Args();
  args.x = args.x.Slice(first, last - first);
  args.out = args.out.Slice(first, last - first);
  const std::vector<int32_t> cu_seqlens = {0, last - first};
  const std::vector<int32_t> slots = {slot};
  const std::vector<uint8_t> initial = {has_initial_state};
  args.cu_seqlens = cu_seqlens;
  args.state_slots = slots;
  args.has_initial_state = initial;
  RunArgs(args, impl);
}

// [Automodel 2147]: taps must not reach into the sequence before.
TEST(CausalConv1d, SequenceInBatchEqualsAlone) {
  for (const std::vector<int64_t>& lengths :
       {std::vector<int64_t>{3, 1, 63}, {5, 130, 1, 64}, {7, 64}, {0, 1, 0, 1, 70}}) {
    const ConvInputs inputs({DType::kBf16, lengths, 40, 4});
    ForEachKernel([&](std::string_view impl) {
      ConvInputs batch = inputs;
      RunConv(batch, impl);
      ConvInputs alone = inputs;
      for (size_t n = 0; n < lengths.size(); ++n) {
        RunTokens(alone, impl, inputs.cu_seqlens[n], inputs.cu_seqlens[n + 1],
                  inputs.state_slots[n], inputs.has_initial_state[n]);
      }
      EXPECT_EQ(batch.out, alone.out);
      EXPECT_EQ(batch.state, alone.state);
    });
  }
}

// Three pad tokens before a prompt of five: their rows lie where its first taps would. [maxtext
// 5295]
TEST(CausalConv1d, PadTokensBeforeAPromptDoNotReachIt) {
  ConvInputs inputs({DType::kBf16, {3, 5}, 40, 4});
  inputs.state_slots = {0, 2};  // the pads belong to no sequence
  inputs.has_initial_state = {0, 0};
  for (int64_t i = 0; i < 3 * 40; ++i) inputs.x.Set(i, NAN);
  ForEachKernel([&](std::string_view impl) {
    ConvInputs padded = inputs;
    RunConv(padded, impl);
    ConvInputs alone = inputs;
    RunTokens(alone, impl, 3, 8, 2, 0);
    for (int64_t i = 0; i < inputs.out.size(); ++i) {
      EXPECT_EQ(padded.out.Get(i), i < 3 * 40 ? 0.0F : alone.out.Get(i)) << i;
    }
    EXPECT_EQ(padded.state, alone.state);
  });
}

TEST(CausalConv1d, SplitAnywhereEqualsWhole) {
  const ConvInputs inputs({DType::kBf16, {70}, 40, 4});
  ForEachKernel([&](std::string_view impl) {
    for (const uint8_t initial : {uint8_t{0}, uint8_t{1}}) {
      ConvInputs whole = inputs;
      whole.has_initial_state = {initial};
      RunConv(whole, impl);
      for (const int32_t cut : {1, 2, 3, 64, 69}) {
        ConvInputs split = inputs;
        RunTokens(split, impl, 0, cut, 2, initial);
        RunTokens(split, impl, cut, 70, 2, 1);
        EXPECT_EQ(split.out, whole.out) << cut;
        EXPECT_EQ(split.state, whole.state) << cut;
      }
      ConvInputs tokens = inputs;  // decode, one token a call
      for (int32_t t = 0; t < 70; ++t) {
        RunTokens(tokens, impl, t, t + 1, 2, t == 0 ? initial : uint8_t{1});
      }
      EXPECT_EQ(tokens.out, whole.out);
      EXPECT_EQ(tokens.state, whole.state);
    }
  });
}

TEST(CausalConv1d, NullSlotsGiveZeroRowsAndKeepTheState) {
  ConvInputs inputs({DType::kBf16, {5, 70, 2}, 20, 4});
  inputs.state_slots = {0, -1, 2};
  ForEachKernel([&](std::string_view impl) {
    ConvInputs got = inputs;
    RunConv(got, impl);
    for (int64_t i = 0; i < got.out.size(); ++i) {
      EXPECT_EQ(got.out.Get(i) == 0.0F, i / 20 < 75) << i;
    }
    ConvInputs alone = inputs;
    RunTokens(alone, impl, 75, 77, 2, 1);
    EXPECT_EQ(got.state, alone.state);
  });
}

TEST(CausalConv1d, StridedRowsEqualContiguousOnes) {
  const ConvInputs inputs({DType::kF16, {66}, 40, 4});
  ForEachKernel([&](std::string_view impl) {
    ConvInputs want = inputs;
    RunConv(want, impl);
    ConvInputs got = inputs;
    TestTensor wide(DType::kF16, {66, 53});
    wide.Fill(NAN);
    for (int64_t i = 0; i < got.x.size(); ++i) {
      wide.Set(i / 40 * 53 + 6 + i % 40, inputs.x.Get(i));
    }
    CausalConv1dArgs args = got.Args();
    args.x = ConstTensor(wide.view()).Columns(6, 40);
    RunArgs(args, impl);
    EXPECT_EQ(got.out, want.out);
    EXPECT_EQ(got.state, want.state);
  });
}

TEST(CausalConv1d, ErrorsAreReported) {
  const std::vector<int32_t> falls = {0, 13, 12};
  const std::vector<int32_t> one = {1};
  const std::vector<int32_t> twice = {2, 2};
  const std::vector<int32_t> high = {2, 4};
  const std::vector<uint8_t> short_initial = {1};
  struct Bad {
    std::function<void(CausalConv1dArgs&)> spoil;
    const char* message;
  };
  const std::vector<Bad> cases = {
      {[](auto& a) { a.x.shape = {12}; }, "want [T, C] and [C, Kc]"},
      {[](auto& a) { a.x.dtype = DType::kI32; }, "want f32, f16 or bf16"},
      {[](auto& a) {
         a.weight.shape = {20, 5};
       },
       "want Kc in 2..4"},
      {[](auto& a) {
         a.weight.shape = {19, 4};
       },
       "weight is bf16 [19, 4], want bf16 [C=20, Kc=4]"},
      {[](auto& a) { a.weight.dtype = DType::kF32; }, "weight is f32"},
      {[](auto& a) {
         a.state.shape = {4, 20, 3};
       },
       "state is"},
      {[](auto& a) {
         a.state.shape = {4, 60};
       },
       "state is"},
      {[](auto& a) { a.state.strides[0] = 1; }, "slots of state overlap"},
      {[](auto& a) { a.state.strides[1] = 21; }, "state is strided"},
      {[](auto& a) {
         a.out.shape = {11, 20};
       },
       "out is bf16 [11, 20]"},
      {[](auto& a) { a.out.data = nullptr; }, "out has no data"},
      {[&](auto& a) { a.cu_seqlens = falls; }, "cu_seqlens[2] is 12"},
      {[&](auto& a) { a.state_slots = one; }, "want N=2"},
      {[&](auto& a) { a.state_slots = twice; }, "repeats slot 2"},
      {[&](auto& a) { a.state_slots = high; }, "want below 4"},
      {[&](auto& a) { a.has_initial_state = short_initial; }, "has_initial_state has 1"},
      {[](auto& a) { a.out.data = const_cast<void*>(a.x.data); }, "out overlaps x"},
      {[](auto& a) { a.x.data = a.state.data; }, "state overlaps x"},
  };
  for (const Bad& bad : cases) {
    SCOPED_TRACE(bad.message);
    ConvInputs inputs({DType::kBf16, {5, 7}, 20, 4});
    CausalConv1dArgs args = inputs.Args();
    bad.spoil(args);
    ThreadPool pool(1);
    ExecContext ctx;
    ctx.pool = &pool;
    const Status status = CausalConv1d(ctx, args);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(bad.message), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace gdn
