// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/causal_conv1d/causal_conv1d.h"
#include "ops/causal_conv1d/causal_conv1d_testing.h"
#include "ops/common/testing/device_tensor.h"

namespace gdn {
namespace {

// Tokens [first, last) of inputs as a call of their own.
struct Part {
  int32_t first, last;
  int32_t slot;
  uint8_t has_initial_state;
};

// Replaces out and state of inputs by the device's, of the parts one after another where there are
// any.
void RunOnDevice(ConvInputs& inputs, const std::vector<Part>& parts = {}) {
  const DeviceTensor x(inputs.x);
  const DeviceTensor weight(inputs.weight);
  DeviceTensor state(inputs.state);
  DeviceTensor out(inputs.out);
  CausalConv1dArgs args = inputs.Args();
  args.x = x.view();
  args.weight = weight.view();
  args.state = state.view();
  args.out = out.view();
  const auto run = [](const CausalConv1dArgs& a) {
    const Status status = CausalConv1d(TestDevice::Context(), a);
    ASSERT_TRUE(status.ok()) << status.message();
  };
  if (parts.empty()) run(args);
  for (const Part& part : parts) {
    CausalConv1dArgs one = args;
    one.x = args.x.Slice(part.first, part.last - part.first);
    one.out = args.out.Slice(part.first, part.last - part.first);
    const std::vector<int32_t> cu_seqlens = {0, part.last - part.first};
    one.cu_seqlens = cu_seqlens;
    one.state_slots = std::span(&part.slot, 1);
    one.has_initial_state = std::span(&part.has_initial_state, 1);
    run(one);
  }
  state.Fetch();
  out.Fetch();
}

void RunReference(ConvInputs& inputs) {
  TestContext context;
  const Status status = CausalConv1d(context("ref"), inputs.Args());
  ASSERT_TRUE(status.ok()) << status.message();
}

class CausalConv1dDeviceCases : public testing::TestWithParam<std::tuple<DType, int64_t>> {};

TEST_P(CausalConv1dDeviceCases, AreThoseOfTheReference) {
  const auto [dtype, taps] = GetParam();
  const std::vector<std::vector<int64_t>> batches = {
      {1}, {2}, {3}, {4}, {15}, {16}, {17}, {19}, {130}, {62, 2, 1, 1, 1, 3, 64}, {0, 3, 0, 2, 0},
      {}};
  for (const auto& lengths : batches) {
    for (const int64_t channels : {1, 7, 300}) {
      for (const ConvProduct product : {ConvProduct::kRounded, ConvProduct::kWide}) {
        ConvInputs got({dtype, lengths, channels, taps});
        got.product = product;
        ConvInputs want = got;
        RunOnDevice(got);
        RunReference(want);
        ExpectSame(got, want, dtype);
        if (TestDevice::HasReferenceBits()) {
          EXPECT_EQ(got.out, want.out);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, CausalConv1dDeviceCases,
                         testing::Combine(testing::Values(DType::kBf16, DType::kF16, DType::kF32),
                                          testing::Values(2, 3, 4)),
                         [](const auto& test) {
                           return std::string(Name(std::get<0>(test.param))) + "_Kc" +
                                  std::to_string(std::get<1>(test.param));
                         });

TEST(CausalConv1dDevice, TheProductsRoundingIsSeen) {
  ConvInputs rounded({DType::kBf16, {20}, 256, 4});
  ConvInputs wide = rounded;
  wide.product = ConvProduct::kWide;
  RunOnDevice(rounded);
  RunOnDevice(wide);
  EXPECT_GT(DistanceOf(rounded.out, wide.out).differ, wide.out.size() / 10);
}

TEST(CausalConv1dDevice, SequenceInBatchEqualsAlone) {
  const std::vector<int64_t> lengths = {5, 130, 0, 1, 64};
  ConvInputs batch({DType::kBf16, lengths, 40, 4});
  ConvInputs alone = batch;
  std::vector<Part> parts;
  for (size_t n = 0; n < lengths.size(); ++n) {
    parts.push_back({batch.cu_seqlens[n], batch.cu_seqlens[n + 1], batch.state_slots[n],
                     batch.has_initial_state[n]});
  }
  RunOnDevice(batch);
  RunOnDevice(alone, parts);
  EXPECT_EQ(batch.out, alone.out);
  EXPECT_EQ(batch.state, alone.state);
}

TEST(CausalConv1dDevice, SplitAnywhereEqualsWhole) {
  for (const uint8_t initial : {uint8_t{0}, uint8_t{1}}) {
    ConvInputs whole({DType::kBf16, {35}, 40, 4});
    whole.has_initial_state = {initial};
    const ConvInputs inputs = whole;
    RunOnDevice(whole);
    for (const int32_t cut : {1, 2, 16, 34}) {
      ConvInputs split = inputs;
      RunOnDevice(split, {{0, cut, 2, initial}, {cut, 35, 2, 1}});
      EXPECT_EQ(split.out, whole.out) << cut;
      EXPECT_EQ(split.state, whole.state) << cut;
    }
    ConvInputs tokens = inputs;  // decode, one token a call
    std::vector<Part> parts;
    for (int32_t t = 0; t < 35; ++t) parts.push_back({t, t + 1, 2, t == 0 ? initial : uint8_t{1}});
    RunOnDevice(tokens, parts);
    EXPECT_EQ(tokens.out, whole.out);
    EXPECT_EQ(tokens.state, whole.state);
  }
}

TEST(CausalConv1dDevice, NullSlotsGiveZeroRowsAndKeepTheState) {
  ConvInputs inputs({DType::kBf16, {5, 70, 2}, 20, 4});
  inputs.state_slots = {0, -1, 2};
  ConvInputs got = inputs;
  RunOnDevice(got);
  for (int64_t i = 0; i < got.out.size(); ++i) EXPECT_EQ(got.out.Get(i) == 0.0F, i / 20 < 75) << i;
  RunReference(inputs);
  ExpectSame(got, inputs, DType::kBf16);
}

// The state keeps what it was given: a NaN's payload too.
TEST(CausalConv1dDevice, TheStateIsACopy) {
  ConvInputs inputs({DType::kF16, {2}, 40, 4});
  inputs.x.Fill(NAN);
  ConvInputs got = inputs;
  RunOnDevice(got);
  RunReference(inputs);
  EXPECT_EQ(got.state, inputs.state);
}

TEST(CausalConv1dDevice, StridedRowsEqualContiguousOnes) {
  ConvInputs want({DType::kF16, {66}, 40, 4});
  ConvInputs got = want;
  RunOnDevice(want);
  TestTensor wide(DType::kF16, {66, 53});
  wide.Fill(NAN);
  for (int64_t i = 0; i < got.x.size(); ++i) wide.Set(i / 40 * 53 + 6 + i % 40, got.x.Get(i));
  const DeviceTensor x(wide);
  const DeviceTensor weight(got.weight);
  DeviceTensor state(got.state);
  DeviceTensor out(got.out);
  CausalConv1dArgs args = got.Args();
  args.x = ConstTensor(x.view()).Columns(6, 40);
  args.weight = weight.view();
  args.state = state.view();
  args.out = out.view();
  ASSERT_TRUE(CausalConv1d(TestDevice::Context(), args).ok());
  state.Fetch();
  out.Fetch();
  EXPECT_EQ(got.out, want.out);
  EXPECT_EQ(got.state, want.state);
}

}  // namespace
}  // namespace gdn
