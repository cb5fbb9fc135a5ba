// SPDX-License-Identifier: Apache-2.0
// The kernels against dumps of the reference's own kernels (../shared/goldens/gb10).
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "ops/common/testing/npy.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"
#include "ops/gated_delta_rule/gated_delta_rule_testing.h"
#include "ops/gdn_prep/gdn_prep.h"

namespace gdn {
namespace {

TestTensor FromNpy(const NpyArray& array, DType dtype) {
  TestTensor out(dtype, array.shape());
  const std::vector<float> values = array.F32();
  for (size_t i = 0; i < values.size(); ++i) out.Set(static_cast<int64_t>(i), values[i]);
  return out;
}

// Slot 0 of a pool is null, so the dump's state n lies in slot n + 1.
TestTensor PoolOf(const NpyArray& states, DType dtype) {
  const Shape& s = states.shape();
  TestTensor pool(dtype, {s[0] + 1, s[1], s[2], s[3]});
  pool.Fill(NAN);
  const std::vector<float> values = states.F32();
  const int64_t slot_size = s[1] * s[2] * s[3];
  for (size_t i = 0; i < values.size(); ++i) {
    pool.Set(slot_size + static_cast<int64_t>(i), values[i]);
  }
  return pool;
}

// A prefill dump in the given form.
struct Prefill {
  GdrInputs inputs;
  TestTensor want_out, want_state;

  Prefill(const Golden& golden, DType dtype, std::vector<uint8_t> has_initial_state)
      : inputs(GdrShape{}) {
    inputs.q = FromNpy(golden["q"], dtype);
    inputs.k = FromNpy(golden["k"], dtype);
    inputs.v = FromNpy(golden["v"], dtype);
    inputs.log_decay = FromNpy(golden["g"], DType::kF32);
    inputs.beta = FromNpy(golden["beta"], DType::kF32);
    inputs.state = PoolOf(golden["state_in"], DType::kF32);
    inputs.cu_seqlens = golden["query_start_loc"].I32();
    inputs.has_initial_state = std::move(has_initial_state);
    for (size_t n = 0; n < inputs.has_initial_state.size(); ++n) {
      inputs.state_slots.push_back(static_cast<int32_t>(n) + 1);
    }
    const int64_t k_dim = golden["q"].shape()[2];
    inputs.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(k_dim)));
    want_out = FromNpy(golden["out"], dtype);
    want_state = PoolOf(golden["state_out"], DType::kF32);
    inputs.out = TestTensor(dtype, golden["out"].shape());
    inputs.out.Fill(NAN);
  }
};

TEST(GatedDeltaRuleGolden, ChunkBf16HasTheBitsOfTheReference) {
  const Golden golden("gdn_prefill_bf16_realdims");
  if (!golden.exists()) GTEST_SKIP() << golden.Missing();
  ForEachKernel([&](std::string_view impl) {
    Prefill c(golden, DType::kBf16, {1, 0});
    const GatedDeltaRuleArgs args = c.inputs.Args();
    const GdrContext context(args, impl);
    const Status status = GatedDeltaRuleChunk(context.ctx(), args);
    ASSERT_TRUE(status.ok()) << status.message();
    const Distance out = DistanceOf(c.inputs.out, c.want_out);
    const Distance state = DistanceOf(c.inputs.state, c.want_state);
    EXPECT_EQ(out.count, 8192);
    EXPECT_EQ(out.differ, 0);
    EXPECT_LE(state.max_abs, 1e-7);
  });
}

TEST(GatedDeltaRuleGolden, ChunkWithIeeeOperandDiffersAsMeasured) {
  const Golden golden("gdn_prefill_bf16_realdims");
  if (!golden.exists()) GTEST_SKIP() << golden.Missing();
  ForEachKernel([&](std::string_view impl) {
    Prefill c(golden, DType::kBf16, {1, 0});
    GatedDeltaRuleArgs args = c.inputs.Args();
    args.kkt_operand = KktOperand::kIeee;
    const GdrContext context(args, impl);
    ASSERT_TRUE(GatedDeltaRuleChunk(context.ctx(), args).ok());
    EXPECT_EQ(DistanceOf(c.inputs.out, c.want_out).differ, 62);
  });
}

TEST(GatedDeltaRuleGolden, F32PrefillIsTheRecurrence) {
  for (const char* name : {"gdn_prefill_f32_realdims", "gdn_prefill_f32_small"}) {
    SCOPED_TRACE(name);
    const Golden golden(name);
    if (!golden.exists()) GTEST_SKIP() << golden.Missing();
    ForEachKernel([&](std::string_view impl) {
      for (const bool chunk : {false, true}) {
        SCOPED_TRACE(chunk);
        const bool two = golden["query_start_loc"].shape()[0] == 3;
        Prefill c(golden, DType::kF32, two ? std::vector<uint8_t>{1, 1} : std::vector<uint8_t>{1});
        const GatedDeltaRuleArgs args = c.inputs.Args();
        const GdrContext context(args, impl);
        const Status status = chunk ? GatedDeltaRuleChunk(context.ctx(), args)
                                    : GatedDeltaRuleRecurrent(context.ctx(), args);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_LE(DistanceOf(c.inputs.out, c.want_out).nmse, 1e-12);
        EXPECT_LE(DistanceOf(c.inputs.state, c.want_state).nmse, 1e-12);
      }
    });
  }
}

// gdn_prep in its decode form, then the recurrence, one token a sequence.
struct Decode {
  TestTensor q, k, v, a, b, a_log, dt_bias;
  TestTensor q_out, k_out, log_decay, beta;
  GdrInputs inputs;

  Decode(const Golden& golden, DType dtype) : inputs(GdrShape{}) {
    q = FromNpy(golden["q"], dtype);
    k = FromNpy(golden["k"], dtype);
    v = FromNpy(golden["v"], dtype);
    a = FromNpy(golden["a"], dtype);
    b = FromNpy(golden["b"], dtype);
    a_log = FromNpy(golden["A_log"], DType::kF32);
    dt_bias = FromNpy(golden["dt_bias"], DType::kF32);
    inputs.v = v;
    inputs.q = TestTensor(DType::kF32, q.view().shape);
    inputs.k = TestTensor(DType::kF32, q.view().shape);
    inputs.log_decay = TestTensor(DType::kF32, a.view().shape);
    inputs.beta = TestTensor(DType::kF32, a.view().shape);
    inputs.out = TestTensor(dtype, v.view().shape);
    inputs.out.Fill(NAN);
    inputs.cu_seqlens = {0, 1, 2};
    inputs.state_slots = {1, 2};
    inputs.has_initial_state = {1, 1};
    inputs.scale = static_cast<float>(1 / std::sqrt(128.0));
  }

  void Run(std::string_view impl) {
    GatedDeltaRuleArgs args = inputs.Args();
    const GdrContext context(args, impl);
    GdnPrepArgs prep;
    prep.q = q.view();
    prep.k = k.view();
    prep.a = a.view();
    prep.b = b.view();
    prep.a_log = a_log.view();
    prep.dt_bias = dt_bias.view();
    prep.form = GdnForm::kDecode;
    prep.q_out = inputs.q.view();
    prep.k_out = inputs.k.view();
    prep.log_decay = inputs.log_decay.view();
    prep.beta = inputs.beta.view();
    Status status = GdnPrep(context.ctx(), prep);
    ASSERT_TRUE(status.ok()) << status.message();
    status = GatedDeltaRuleRecurrent(context.ctx(), args);
    ASSERT_TRUE(status.ok()) << status.message();
  }
};

TEST(GatedDeltaRuleGolden, DecodeF32) {
  const Golden golden("gdn_decode_f32_realdims");
  if (!golden.exists()) GTEST_SKIP() << golden.Missing();
  ForEachKernel([&](std::string_view impl) {
    Decode c(golden, DType::kF32);
    c.inputs.state = PoolOf(golden["state_in"], DType::kF32);
    c.Run(impl);
    const auto nmse = [&](const TestTensor& got, const char* name) {
      return DistanceOf(got, FromNpy(golden[name], DType::kF32)).nmse;
    };
    EXPECT_LE(nmse(c.inputs.q, "q_l2"), 1e-13);
    EXPECT_LE(nmse(c.inputs.k, "k_l2"), 1e-13);
    EXPECT_LE(nmse(c.inputs.log_decay, "g"), 1e-13);
    EXPECT_LE(nmse(c.inputs.beta, "beta"), 1e-13);
    EXPECT_LE(nmse(c.inputs.out, "out"), 1e-12);
    const TestTensor want_state = PoolOf(golden["state_out"], DType::kF32);
    EXPECT_LE(DistanceOf(c.inputs.state, want_state).nmse, 1e-12);
  });
}

TEST(GatedDeltaRuleGolden, PackedDecodeBf16HasTheBitsOfTheReference) {
  const Golden golden("gdn_packed_decode_oracle");
  if (!golden.exists()) GTEST_SKIP() << golden.Missing();
  ForEachKernel([&](std::string_view impl) {
    Decode c(golden, DType::kBf16);
    c.inputs.state = FromNpy(golden["state_in"], DType::kBf16);
    c.inputs.state_slots = golden["state_indices"].I32();
    c.Run(impl);
    const Distance out = DistanceOf(c.inputs.out, FromNpy(golden["out"], DType::kBf16));
    EXPECT_EQ(out.count, 768);
    EXPECT_EQ(out.differ, 0);
    const TestTensor want_state = FromNpy(golden["state_out"], DType::kBf16);
    EXPECT_LE(DistanceOf(c.inputs.state, want_state).differ, 16);
    for (int64_t i = 0; i < want_state.size(); ++i) {
      // One bf16 ulp is at most 2^-7 of the value.
      const float want = want_state.Get(i);
      ASSERT_LE(std::abs(c.inputs.state.Get(i) - want), std::abs(want) * 0x1p-7F) << i;
    }
  });
}

}  // namespace
}  // namespace gdn
