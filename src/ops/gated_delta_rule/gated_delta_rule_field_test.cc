// SPDX-License-Identifier: Apache-2.0
// Small inputs distilled from public bug reports against engines that run gated-delta-net models;
// the report is named in brackets. Always finite, and no further from the f64 recurrence than the
// chunk form's own distance.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "ops/gated_delta_rule/gated_delta_rule_testing.h"

namespace gdn {
namespace {

GdrShape HeadShape(DType dtype, std::vector<int64_t> lengths, int64_t key_heads = 1,
                   int64_t value_heads = 1) {
  GdrShape shape;
  shape.dtype = shape.qk_dtype = dtype;
  shape.lengths = std::move(lengths);
  shape.num_key_heads = key_heads;
  shape.num_value_heads = value_heads;
  return shape;
}

// The chunk form rounds at a dozen points, to 2^-9 in bf16; f16 has three bits more.
// docs/numerics.md puts the distance at about 1e-5.
double MaxNmse(DType dtype) { return dtype == DType::kF32 ? 1e-11 : 5e-5; }

// Both forms, every kernel, bf16 and f32.
void ExpectCloseToF64(const std::vector<int64_t>& lengths, void (*prepare)(GdrInputs& inputs)) {
  for (const DType dtype : {DType::kBf16, DType::kF32}) {
    GdrInputs inputs(HeadShape(dtype, lengths));
    prepare(inputs);
    for (const GdrForm form : {GdrForm::kChunk, GdrForm::kBlocked, GdrForm::kRecurrent}) {
      ForEachKernel([&](std::string_view impl) {
        GdrInputs got = inputs;
        RunGdr(form, got, impl);
        const DistanceToF64 distance = CompareToF64(inputs, got);
        EXPECT_TRUE(distance.finite);
        EXPECT_LE(distance.out_nmse, MaxNmse(dtype));
        EXPECT_LE(distance.state_nmse, MaxNmse(dtype));
      });
    }
  }
}

TEST(GatedDeltaRuleField, StrongDecayOnAllTokens) {  // executorch 21417
  ExpectCloseToF64({64, 70}, [](GdrInputs& inputs) { inputs.log_decay.Fill(-27.6); });
}

TEST(GatedDeltaRuleField, StateSurvivesAStrongFirstDecay) {  // tt-metal 56550
  ExpectCloseToF64({64}, [](GdrInputs& inputs) {
    inputs.log_decay.Fill(0);
    inputs.log_decay.Set(0, -90);
  });
}

TEST(GatedDeltaRuleField, FutureTriangleDoesNotOverflow) {  // transformers 47625
  ExpectCloseToF64({64, 64}, [](GdrInputs& inputs) { inputs.log_decay.Fill(-3); });
}

TEST(GatedDeltaRuleField, ExtremeDecays) {
  ExpectCloseToF64({130}, [](GdrInputs& inputs) { inputs.log_decay.Fill(-1000); });
  ExpectCloseToF64({130}, [](GdrInputs& inputs) { inputs.log_decay.Fill(-20); });
  ExpectCloseToF64({130}, [](GdrInputs& inputs) { inputs.log_decay.Fill(-1e-4); });
  ExpectCloseToF64({130}, [](GdrInputs& inputs) { inputs.log_decay.Fill(0); });
}

TEST(GatedDeltaRuleField, ZeroRowsOfQAndK) {
  ExpectCloseToF64({70}, [](GdrInputs& inputs) {
    for (int64_t i = 0; i < 128; ++i) {
      inputs.q.Set(3 * 128 + i, 0);
      inputs.k.Set(5 * 128 + i, 0);
      inputs.q.Set(69 * 128 + i, 0);
      inputs.k.Set(64 * 128 + i, 0);
    }
  });
}

TEST(GatedDeltaRuleField, BetaOneAndBetaZero) {
  ExpectCloseToF64({70}, [](GdrInputs& inputs) { inputs.beta.Fill(1); });
  ExpectCloseToF64({70}, [](GdrInputs& inputs) {
    for (int64_t i = 0; i < 70; i += 3) inputs.beta.Set(i, 0);
  });
  // Nothing is written where beta is 0: the state only decays.
  GdrInputs inputs(HeadShape(DType::kBf16, {64}));
  inputs.beta.Fill(0);
  inputs.log_decay.Fill(0);
  for (const GdrForm form : {GdrForm::kChunk, GdrForm::kBlocked, GdrForm::kRecurrent}) {
    ForEachKernel([&](std::string_view impl) {
      GdrInputs got = inputs;
      RunGdr(form, got, impl);
      EXPECT_EQ(got.state, inputs.state);
    });
  }
}

TEST(GatedDeltaRuleField, FortyEightValueHeadsOverSixteenKeyHeads) {  // ik_llama 1520
  GdrShape shape = HeadShape(DType::kF32, {3}, 16, 48);
  shape.k_dim = shape.v_dim = 32;
  const GdrInputs inputs(shape);
  for (const GdrForm form : {GdrForm::kChunk, GdrForm::kBlocked, GdrForm::kRecurrent}) {
    ForEachKernel([&](std::string_view impl) {
      GdrInputs got = inputs;
      RunGdr(form, got, impl);
      EXPECT_LE(CompareToF64(inputs, got).out_nmse, 1e-12);
    });
  }
}

// A prompt of T tokens, and one of T - 1 with the last token decoded.  [transformers 46190]
TEST(GatedDeltaRuleField, PrefillThenDecodeStepMatchesPrefill) {
  for (const int64_t length : {1, 2, 63, 64, 65, 66, 127, 128, 129, 200}) {
    SCOPED_TRACE(length);
    const GdrInputs inputs(HeadShape(DType::kBf16, {length}));
    GdrInputs whole = inputs;
    RunGdr(GdrForm::kChunk, whole, "");
    GdrInputs stepped = inputs;
    GatedDeltaRuleArgs args = stepped.Args();
    const auto run = [&](int64_t first, int64_t last, bool chunk) {
      GatedDeltaRuleArgs part = args;
      part.q = args.q.Slice(first, last - first);
      part.k = args.k.Slice(first, last - first);
      part.v = args.v.Slice(first, last - first);
      part.log_decay = args.log_decay.Slice(first, last - first);
      part.beta = args.beta.Slice(first, last - first);
      part.out = args.out.Slice(first, last - first);
      const std::vector<int32_t> cu_seqlens = {0, static_cast<int32_t>(last - first)};
      part.cu_seqlens = cu_seqlens;
      const GdrContext context(part);
      const Status status = chunk ? GatedDeltaRuleChunk(context.ctx(), part)
                                  : GatedDeltaRuleRecurrent(context.ctx(), part);
      ASSERT_TRUE(status.ok()) << status.message();
    };
    run(0, length - 1, true);
    run(length - 1, length, false);
    EXPECT_LE(DistanceOf(stepped.out, whole.out).nmse, 1e-4);
    EXPECT_LE(DistanceOf(stepped.state, whole.state).nmse, 1e-4);
  }
}

// Batches of one to five, NaN wherever a sequence does not look. [mlx-lm 1736, omlx 2119]
TEST(GatedDeltaRuleField, BatchesOfOneToFiveAreTheirSequences) {
  const std::vector<int64_t> lengths = {7, 64, 1, 130, 66};
  for (size_t count = 1; count <= lengths.size(); ++count) {
    GdrInputs batch(HeadShape(DType::kBf16, {lengths.begin(), lengths.begin() + count}, 1, 2));
    GdrInputs alone = batch;
    RunGdr(GdrForm::kChunk, batch, "");
    const GatedDeltaRuleArgs all = alone.Args();
    for (size_t n = 0; n < count; ++n) {
      GatedDeltaRuleArgs args = all;
      for (ConstTensor* tensor : {&args.q, &args.k, &args.v, &args.log_decay, &args.beta}) {
        *tensor = tensor->Slice(all.cu_seqlens[n], lengths[n]);
      }
      args.out = all.out.Slice(all.cu_seqlens[n], lengths[n]);
      const std::vector<int32_t> cu_seqlens = {0, static_cast<int32_t>(lengths[n])};
      args.cu_seqlens = cu_seqlens;
      args.state_slots = all.state_slots.subspan(n, 1);
      args.has_initial_state = all.has_initial_state.subspan(n, 1);
      const GdrContext context(args);
      ASSERT_TRUE(GatedDeltaRuleChunk(context.ctx(), args).ok());
    }
    EXPECT_EQ(batch.out, alone.out) << count;
    EXPECT_EQ(batch.state, alone.state) << count;
  }
}

// The state's drift over 4,096 decoded tokens, stored after each. [llm-scaler 559]
TEST(GatedDeltaRuleField, DriftOverFourThousandTokensIsBounded) {
  struct Case {
    DType dtype, state_dtype;
    double bound;  // of the state's relative RMS error
  };
  for (const Case& c : {Case{DType::kBf16, DType::kF32, 1e-6},
                        {DType::kBf16, DType::kBf16, 2e-2},
                        {DType::kF16, DType::kF16, 2e-3}}) {
    GdrShape shape = HeadShape(c.dtype, {4096});
    shape.state_dtype = c.state_dtype;
    shape.k_dim = shape.v_dim = 32;
    const GdrInputs inputs(shape, 1, {-0.05, -0.001});
    GdrInputs got = inputs;
    GatedDeltaRuleArgs args = got.Args();
    const GdrContext context(args);
    const std::vector<int32_t> cu_seqlens = {0, 1};
    for (int64_t t = 0; t < 4096; ++t) {
      GatedDeltaRuleArgs step = args;
      step.q = args.q.Slice(t, 1);
      step.k = args.k.Slice(t, 1);
      step.v = args.v.Slice(t, 1);
      step.log_decay = args.log_decay.Slice(t, 1);
      step.beta = args.beta.Slice(t, 1);
      step.out = args.out.Slice(t, 1);
      step.cu_seqlens = cu_seqlens;
      ASSERT_TRUE(GatedDeltaRuleRecurrent(context.ctx(), step).ok());
    }
    const double drift = std::sqrt(CompareToF64(inputs, got).state_nmse);
    std::printf("state %s after 4096 tokens: relative RMS error %.2e\n", Name(c.state_dtype),
                drift);
    EXPECT_LE(drift, c.bound);
  }
}

}  // namespace
}  // namespace gdn
