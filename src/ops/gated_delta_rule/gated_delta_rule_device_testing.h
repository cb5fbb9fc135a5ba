// SPDX-License-Identifier: Apache-2.0
// The kernels of devices against the scalar references, and what must not change their bits.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/common/testing/device_tensor.h"
#include "ops/gated_delta_rule/gated_delta_rule_testing.h"

namespace gdn {
namespace {

// Inputs on the device, as long as it lives. Scratch, with room for max_tokens, begins as garbage.
class DeviceGdr {
 public:
  explicit DeviceGdr(GdrInputs& inputs, int64_t max_tokens = 1024)
      : inputs_(inputs),
        q_(inputs.q),
        k_(inputs.k),
        v_(inputs.v),
        log_decay_(inputs.log_decay),
        beta_(inputs.beta),
        state_(inputs.state),
        out_(inputs.out),
        garbage_(ScratchBytes(inputs, max_tokens), std::byte{0xFF}),
        scratch_(garbage_) {}

  GatedDeltaRuleArgs Args() {
    GatedDeltaRuleArgs args = inputs_.Args();
    args.q = q_.view();
    args.k = k_.view();
    args.v = v_.view();
    args.log_decay = log_decay_.view();
    args.beta = beta_.view();
    args.state = state_.view();
    args.out = out_.view();
    return args;
  }
  void Run(GdrForm form, const GatedDeltaRuleArgs& args) {
    ExecContext ctx = TestDevice::Context();
    const Tensor all(garbage_.data(), DType::kF32, {1});
    ctx.scratch = Scratch(std::span(static_cast<std::byte*>(scratch_(all).data), garbage_.size()));
    const Status status = RunForm(form, ctx, args);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  // Tokens [first, last) as a call of their own.
  void RunTokens(GdrForm form, int32_t first, int32_t last, int32_t slot,
                 uint8_t has_initial_state) {
    GatedDeltaRuleArgs args = Args();
    for (ConstTensor* tensor : {&args.q, &args.k, &args.v, &args.log_decay, &args.beta}) {
      *tensor = tensor->Slice(first, last - first);
    }
    args.out = args.out.Slice(first, last - first);
    const std::vector<int32_t> cu_seqlens = {0, last - first};
    args.cu_seqlens = cu_seqlens;
    args.state_slots = std::span(&slot, 1);
    args.has_initial_state = std::span(&has_initial_state, 1);
    Run(form, args);
  }
  // Replaces state and out of the inputs.
  void Fetch() {
    state_.Fetch();
    out_.Fetch();
  }

 private:
  static size_t ScratchBytes(const GdrInputs& inputs, int64_t max_tokens) {
    const GatedDeltaRuleArgs args = GdrInputs(inputs).Args();
    return GatedDeltaRuleDeviceScratchBytes(args.v.dtype, args.v.dim(1), args.k.dim(2),
                                            args.v.dim(2), max_tokens);
  }

  GdrInputs& inputs_;
  DeviceTensor q_, k_, v_, log_decay_, beta_, state_, out_;
  std::vector<std::byte> garbage_;
  DeviceBytes scratch_;
};

// Replaces state and out by what the device makes of them.
void RunOnDevice(GdrForm form, GdrInputs& inputs, int64_t max_tokens = 1024,
                 KktOperand kkt_operand = KktOperand::kTf32) {
  DeviceGdr device(inputs, max_tokens);
  GatedDeltaRuleArgs args = device.Args();
  args.kkt_operand = kkt_operand;
  device.Run(form, args);
  device.Fetch();
}

std::vector<GdrShape> Shapes() {
  std::vector<GdrShape> shapes;
  for (const DType dtype : {DType::kBf16, DType::kF16, DType::kF32}) {
    for (const std::vector<int64_t>& lengths : std::vector<std::vector<int64_t>>{
             {1}, {16}, {63}, {64}, {65}, {5, 130, 1, 64}, {0, 17, 0, 0, 64, 0}, {}}) {
      shapes.push_back(With(dtype, lengths, 1, 2, 32, 48));
    }
    for (const auto& [k, v] : {std::pair{128, 128}, {20, 36}, {3, 5}}) {
      shapes.push_back(With(dtype, {66}, 1, 1, k, v));
    }
    shapes.push_back(With(dtype, {20, 12}, 2, 6, 32, 64));
  }
  shapes.push_back(With(DType::kBf16, {66}, 1, 1, 256, 256));
  shapes.push_back(With(DType::kF32, {66}, 1, 1, 100, 7));
  return shapes;
}

class GatedDeltaRuleDeviceCases : public testing::TestWithParam<GdrShape> {};

// Where the driver has no fma, sums are rounded twice a term.
void ExpectIsTheRecurrence(const GdrInputs& got, const GdrInputs& want, const GdrShape& shape) {
  const Distance out = DistanceOf(got.out, want.out);
  const Distance state = DistanceOf(got.state, want.state);
  const bool wide = shape.dtype == DType::kF32;
  EXPECT_LE(out.nmse, wide ? 1e-12 : 1e-7);
  EXPECT_LE(out.differ, wide ? out.count : 2 + out.count / 250);
  const bool wide_state = shape.state_dtype == DType::kF32;
  EXPECT_LE(state.nmse, wide_state ? 1e-12 : 1e-7);
  EXPECT_LE(state.differ, wide_state ? state.count : 2 + state.count / 250);
}

// As decode calls it: q and k in f32.
TEST_P(GatedDeltaRuleDeviceCases, RecurrentIsTheReference) {
  for (const DType state_dtype : {DType::kF32, GetParam().dtype}) {
    GdrShape shape = GetParam();
    shape.qk_dtype = DType::kF32;
    shape.state_dtype = state_dtype;
    GdrInputs got(shape);
    GdrInputs want = got;
    RunOnDevice(GdrForm::kRecurrent, got);
    RunGdr(GdrForm::kRecurrent, want, "ref");
    ExpectIsTheRecurrence(got, want, shape);
  }
}

// As prefill does: q and k in D.
TEST_P(GatedDeltaRuleDeviceCases, BlockedIsTheRecurrence) {
  GdrInputs got(GetParam());
  GdrInputs want = got;
  RunOnDevice(GdrForm::kBlocked, got);
  RunGdr(GdrForm::kBlocked, want, "ref");
  ExpectIsTheRecurrence(got, want, GetParam());
}

// The gates of the CPU's kernel.
TEST_P(GatedDeltaRuleDeviceCases, ChunkIsTheReference) {
  GdrInputs got(GetParam());
  GdrInputs want = got;
  RunOnDevice(GdrForm::kChunk, got);
  RunGdr(GdrForm::kChunk, want, "ref");
  const Distance out = DistanceOf(got.out, want.out);
  const Distance state = DistanceOf(got.state, want.state);
  if (GetParam().dtype == DType::kF32) {
    EXPECT_LE(out.nmse, 1e-12);
    EXPECT_LE(state.nmse, 1e-12);
  } else {
    EXPECT_LE(out.differ, 2 + out.count / 1000) << out.nmse;
    EXPECT_LE(out.nmse, 1e-7);
    EXPECT_LE(state.nmse, 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GatedDeltaRuleDeviceCases, testing::ValuesIn(Shapes()),
                         [](const auto& test) { return test.param.Name(); });

// A prompt of the sizes of a model is crisp at mid decay: a rounding point that is missing or added
// moves a thousand times as many outputs.
TEST(GatedDeltaRuleDevice, ChunkOfAModelsHeadsHasTheReferencesBits) {
  for (const KktOperand operand : {KktOperand::kTf32, KktOperand::kIeee}) {
    GdrInputs got(With(DType::kBf16, {150, 12}, 1, 2, 128, 128));
    GdrInputs want = got;
    RunOnDevice(GdrForm::kChunk, got, 1024, operand);
    GatedDeltaRuleArgs args = want.Args();
    args.kkt_operand = operand;
    const GdrContext context(args, "ref");
    ASSERT_TRUE(GatedDeltaRuleChunk(context.ctx(), args).ok());
    const Distance out = DistanceOf(got.out, want.out);
    const Distance state = DistanceOf(got.state, want.state);
    std::printf("kkt %s: %lld of %lld outputs differ, nmse out %.1e, state %.1e\n",
                operand == KktOperand::kTf32 ? "tf32" : "ieee", static_cast<long long>(out.differ),
                static_cast<long long>(out.count), out.nmse, state.nmse);
    EXPECT_LE(out.differ, out.count / 1000);
    EXPECT_LE(out.nmse, 1e-9);
    EXPECT_LE(state.nmse, 1e-9);
  }
}

TEST(GatedDeltaRuleDevice, TheKktOperandIsSeen) {
  GdrInputs tf32(With(DType::kBf16, {64}, 1, 1, 64, 64));
  GdrInputs ieee = tf32;
  RunOnDevice(GdrForm::kChunk, tf32, 64, KktOperand::kTf32);
  RunOnDevice(GdrForm::kChunk, ieee, 64, KktOperand::kIeee);
  EXPECT_GT(DistanceOf(tf32.out, ieee.out).differ, 0);
}

class GatedDeltaRuleDeviceInvariance : public testing::TestWithParam<std::tuple<GdrForm, DType>> {
 protected:
  static constexpr int64_t kHeads = 1;
  static constexpr int64_t kValueHeads = 2;
  static constexpr int64_t kKeys = 40;
  static constexpr int64_t kValues = 20;
  static GdrForm Form() { return std::get<0>(GetParam()); }
  static GdrShape Base(std::vector<int64_t> lengths) {
    return With(std::get<1>(GetParam()), std::move(lengths), kHeads, kValueHeads, kKeys, kValues);
  }
};

TEST_P(GatedDeltaRuleDeviceInvariance, SequenceInBatchEqualsAlone) {
  for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{5, 130, 1, 64}, {0, 2, 0, 66}}) {
    GdrInputs batch(Base(lengths));
    GdrInputs alone = batch;
    RunOnDevice(Form(), batch);
    DeviceGdr device(alone);
    for (size_t n = 0; n < lengths.size(); ++n) {
      device.RunTokens(Form(), alone.cu_seqlens[n], alone.cu_seqlens[n + 1], alone.state_slots[n],
                       alone.has_initial_state[n]);
    }
    device.Fetch();
    EXPECT_EQ(batch.out, alone.out);
    EXPECT_EQ(batch.state, alone.state);
  }
}

TEST_P(GatedDeltaRuleDeviceInvariance, SplitAtAChunkEqualsWhole) {
  GdrInputs whole(Base({200}));
  const GdrInputs inputs = whole;
  RunOnDevice(Form(), whole);
  std::vector<int32_t> cuts = {17, 199};
  if (Form() == GdrForm::kChunk) cuts = {64, 192};
  for (const int32_t cut : cuts) {
    GdrInputs split = inputs;
    DeviceGdr device(split);
    device.RunTokens(Form(), 0, cut, 2, 1);
    device.RunTokens(Form(), cut, 200, 2, 1);
    device.Fetch();
    EXPECT_EQ(split.out, whole.out) << cut;
    EXPECT_EQ(split.state, whole.state) << cut;
  }
}

// Less scratch makes more passes, which cut sequences with an initial state and without.
TEST_P(GatedDeltaRuleDeviceInvariance, ScratchDoesNotChangeBits) {
  GdrInputs roomy(Base({70, 130, 3, 66}));
  const GdrInputs inputs = roomy;
  RunOnDevice(Form(), roomy);
  for (const int64_t max_tokens : {1, 128, 320}) {
    GdrInputs tight = inputs;
    RunOnDevice(Form(), tight, max_tokens);
    EXPECT_EQ(tight.out, roomy.out) << max_tokens;
    EXPECT_EQ(tight.state, roomy.state) << max_tokens;
  }
}

TEST_P(GatedDeltaRuleDeviceInvariance, NullSlotsGiveZeroRowsAndKeepThePool) {
  GdrInputs inputs(Base({20, 3, 70}));
  inputs.state_slots = {0, 3, -1};
  for (TestTensor* tensor : {&inputs.q, &inputs.k, &inputs.v, &inputs.log_decay, &inputs.beta}) {
    const int64_t columns = tensor->size() / 93;
    for (int64_t i = 0; i < tensor->size(); ++i) {
      if (i / columns < 20 || i / columns >= 23) tensor->Set(i, NAN);
    }
  }
  GdrInputs got = inputs;
  RunOnDevice(Form(), got);
  const int64_t row = inputs.out.size() / 93;
  for (int64_t i = 0; i < inputs.out.size(); ++i) {
    const bool null = i / row < 20 || i / row >= 23;
    ASSERT_EQ(null, got.out.Get(i) == 0.0F) << i;
  }
  GdrInputs alone = inputs;
  DeviceGdr device(alone);
  device.RunTokens(Form(), 20, 23, 3, 0);
  device.Fetch();
  EXPECT_EQ(got.state, alone.state);
}

TEST_P(GatedDeltaRuleDeviceInvariance, StridedInputsEqualContiguousOnes) {
  GdrInputs want(Base({66, 3}));
  GdrInputs got = want;
  const GdrInputs inputs = want;
  RunOnDevice(Form(), want);
  // Rows [q | k | v | pad] as the convolution leaves them, NaN in the pad; slots of the pool apart.
  constexpr int64_t kWidth = 2 * kKeys + kValueHeads * kValues + 5;
  TestTensor rows(std::get<1>(GetParam()), {69, kWidth});
  rows.Fill(NAN);
  const auto put = [&](const TestTensor& from, int64_t first, int64_t columns) {
    for (int64_t i = 0; i < from.size(); ++i) {
      rows.Set(i / columns * kWidth + first + i % columns, from.Get(i));
    }
  };
  put(inputs.q, 0, kKeys);
  put(inputs.k, kKeys, kKeys);
  put(inputs.v, 2 * kKeys, kValueHeads * kValues);
  constexpr int64_t kSlot = kValueHeads * kValues * kKeys;
  TestTensor pool(DType::kF32, {4, kSlot + 24});
  pool.Fill(NAN);
  for (int64_t i = 0; i < 4 * kSlot; ++i) {
    pool.Set(i / kSlot * (kSlot + 24) + i % kSlot, inputs.state.Get(i));
  }
  const DeviceTensor device_rows(rows);
  DeviceTensor device_pool(pool);
  DeviceGdr device(got);
  GatedDeltaRuleArgs args = device.Args();
  const ConstTensor all = device_rows.view();
  args.q = all.Columns(0, kKeys).SplitLast(kHeads, kKeys);
  args.k = all.Columns(kKeys, kKeys).SplitLast(kHeads, kKeys);
  args.v = all.Columns(2 * kKeys, kValueHeads * kValues).SplitLast(kValueHeads, kValues);
  args.state = Tensor(device_pool.view().data, DType::kF32, {4, kValueHeads, kValues, kKeys});
  args.state.strides[0] = kSlot + 24;
  device.Run(Form(), args);
  device.Fetch();
  device_pool.Fetch();
  EXPECT_EQ(got.out, want.out);
  TestTensor state = inputs.state;
  for (int64_t i = 0; i < 4 * kSlot; ++i) {
    state.Set(i, pool.Get(i / kSlot * (kSlot + 24) + i % kSlot));
  }
  EXPECT_EQ(state, want.state);
}

INSTANTIATE_TEST_SUITE_P(Forms, GatedDeltaRuleDeviceInvariance,
                         testing::Combine(testing::Values(GdrForm::kRecurrent, GdrForm::kChunk),
                                          testing::Values(DType::kBf16, DType::kF16, DType::kF32)),
                         [](const auto& test) {
                           return std::string(Name(std::get<0>(test.param))) + "_" +
                                  Name(std::get<1>(test.param));
                         });

// Decays of the field: a chunk that forgets everything, one that never does. [executorch 21417,
// tt-metal 56550, transformers 47625]
TEST(GatedDeltaRuleDevice, StrongDecaysStayFinite) {
  for (const double decay : {-27.6, -3.0, -1000.0, 0.0}) {
    GdrInputs got(With(DType::kBf16, {64, 70}, 1, 1, 64, 64));
    for (int64_t i = 0; i < got.log_decay.size(); ++i) got.log_decay.Set(i, decay);
    GdrInputs want = got;
    RunOnDevice(GdrForm::kChunk, got);
    RunGdr(GdrForm::kChunk, want, "ref");
    const Distance out = DistanceOf(got.out, want.out);
    EXPECT_LE(out.nmse, 1e-7) << decay;
    EXPECT_LE(DistanceOf(got.state, want.state).nmse, 1e-7) << decay;
    EXPECT_TRUE(CompareToF64(want, got).finite) << decay;
  }
}

TEST(GatedDeltaRuleDevice, TooSmallAScratchIsAnError) {
  GdrInputs inputs(With(DType::kBf16, {3}, 1, 1, 16, 16));
  DeviceGdr device(inputs);
  const Status status = GatedDeltaRuleChunk(TestDevice::Context(), device.Args());
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("scratch is 0 bytes, want at least"), std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace gdn
