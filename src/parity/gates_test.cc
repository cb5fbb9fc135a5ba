// SPDX-License-Identifier: Apache-2.0
#include "parity/gates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "parity/golden_case_testing.h"

namespace gdn {
namespace {

// A prefill of one head with these log decays, 1 x 1 state.
GoldenCase Prefill(DType dtype, const std::vector<float>& log_decay, bool has_noise) {
  CaseWriter c("gdn_prefill");
  const auto n = static_cast<int64_t>(log_decay.size());
  c.Add("v", dtype, {n, 1, 1}, log_decay);
  c.Add("g", DType::kF32, {n, 1}, log_decay);
  c.Add("query_start_loc", DType::kI32, {2}, {0, static_cast<float>(n)});
  c.Add("out", dtype, {n, 1, 1}, log_decay);
  if (has_noise) c.manifest["noise"] = {{"out", {{"differ", 0.001}, {"nmse", 1e-8}}}};
  return GoldenCase::Read(c.Write()).value();
}

GoldenCase CaseOf(const char* op) {
  CaseWriter c(op);
  c.Add("out", DType::kF32, {1}, {1});
  return GoldenCase::Read(c.Write()).value();
}

Distance Of(DType dtype, int64_t elements, int64_t differ, double max_abs = 0, double nmse = 0) {
  return {.elements = elements,
          .differ = differ,
          .dtype = dtype,
          .max_abs = max_abs,
          .nmse = nmse,
          .largest = 1,
          .max_ulps = differ > 0 ? 1 : 0};
}

bool Passes(const GoldenCase& golden, const char* output, const Distance& distance) {
  return GateFor(golden, output, output, distance).Passes(distance);
}

TEST(ParityGates, PrefillWithoutNoiseMustBeExact) {
  const GoldenCase golden = Prefill(DType::kBf16, {-0.5F}, false);
  EXPECT_TRUE(Passes(golden, "out", Of(DType::kBf16, 8192, 0)));
  EXPECT_FALSE(Passes(golden, "out", Of(DType::kBf16, 8192, 1)));
  EXPECT_TRUE(Passes(golden, "state_out", Of(DType::kF32, 8192, 4000, 1e-7)));
  EXPECT_FALSE(Passes(golden, "state_out", Of(DType::kF32, 8192, 4000, 1.1e-7)));
}

TEST(ParityGates, PrefillWithNoiseMayDifferByFourTimesIt) {
  const GoldenCase golden = Prefill(DType::kBf16, {-0.5F}, true);
  EXPECT_TRUE(Passes(golden, "out", Of(DType::kBf16, 10000, 40, 1, 4e-8)));
  EXPECT_FALSE(Passes(golden, "out", Of(DType::kBf16, 10000, 41, 1, 4e-8)));
  EXPECT_FALSE(Passes(golden, "out", Of(DType::kBf16, 10000, 40, 1, 4.1e-8)));
  // The manifest has no noise of the state: the floor.
  EXPECT_TRUE(Passes(golden, "state_out", Of(DType::kF32, 10000, 9999, 1, 1e-9)));
  EXPECT_FALSE(Passes(golden, "state_out", Of(DType::kF32, 10000, 1, 1, 1.1e-9)));
}

TEST(ParityGates, F32IsBoundByNmseAndTheLargest) {
  for (const GoldenCase& golden : {Prefill(DType::kF32, {-0.5F}, false), CaseOf("l2norm")}) {
    EXPECT_TRUE(Passes(golden, "out", Of(DType::kF32, 100, 100, 1e-6, 1e-12)));
    EXPECT_FALSE(Passes(golden, "out", Of(DType::kF32, 100, 1, 1.1e-6, 1e-12)));
    EXPECT_FALSE(Passes(golden, "out", Of(DType::kF32, 100, 1, 1e-6, 1.1e-12)));
  }
}

TEST(ParityGates, EqualMeansEqual) {
  for (const char* op : {"silu_and_mul", "rmsnorm", "moe_block"}) {
    EXPECT_TRUE(Passes(CaseOf(op), "out", Of(DType::kBf16, 100000, 0)));
    EXPECT_FALSE(Passes(CaseOf(op), "out", Of(DType::kBf16, 100000, 1)));
  }
  EXPECT_FALSE(Passes(CaseOf("causal_conv1d_fwd"), "conv_state_out", Of(DType::kF32, 100, 1)));
  EXPECT_FALSE(Passes(CaseOf("moe_router_topk"), "topk_ids", Of(DType::kI32, 100000, 1)));
  EXPECT_TRUE(Passes(CaseOf("moe_router_topk"), "topk_weights", Of(DType::kF32, 9, 9, 2e-7, 1)));
  EXPECT_FALSE(Passes(CaseOf("moe_router_topk"), "topk_weights", Of(DType::kF32, 9, 1, 2.1e-7)));
}

TEST(ParityGates, PackedDecodeStateMayDifferInSixteenSteps) {
  const GoldenCase golden = CaseOf("gdn_packed_decode_bf16");
  EXPECT_FALSE(Passes(golden, "out", Of(DType::kBf16, 768, 1)));
  Distance state = Of(DType::kBf16, 147456, 16);
  EXPECT_TRUE(Passes(golden, "state_out", state));
  state.max_ulps = 2;
  EXPECT_FALSE(Passes(golden, "state_out", state));
  EXPECT_FALSE(Passes(golden, "state_out", Of(DType::kBf16, 147456, 17)));
}

TEST(ParityGates, NanFails) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(Passes(CaseOf("l2norm"), "out", Of(DType::kF32, 1, 1, infinity, infinity)));
  EXPECT_FALSE(Passes(CaseOf("l2norm"), "out", Of(DType::kF32, 1, 1, 0, std::nan(""))));
}

TEST(ParityGates, WeakDecayOverMoreThanOneChunkIsGatedByStage) {
  const auto by_stage = [](DType dtype, size_t length, float log_decay, bool noise) {
    return IsGatedByStage(Prefill(dtype, std::vector<float>(length, log_decay), noise)).value();
  };
  EXPECT_TRUE(by_stage(DType::kBf16, 65, -0.01F, true));
  EXPECT_FALSE(by_stage(DType::kBf16, 64, -0.01F, true));
  EXPECT_FALSE(by_stage(DType::kBf16, 65, -0.03F, true));
  EXPECT_FALSE(by_stage(DType::kF32, 65, -0.01F, true));
  EXPECT_FALSE(by_stage(DType::kBf16, 65, -0.01F, false));  // must be exact all the same

  const GoldenCase golden = Prefill(DType::kBf16, std::vector<float>(65, -0.01F), true);
  const auto passes = [&](double nmse) {
    const Distance distance = Of(DType::kBf16, 100, 100, 1, nmse);
    return GateFor(golden, "out", "out", distance, /*by_stage=*/true).Passes(distance);
  };
  EXPECT_TRUE(passes(1e-6));
  EXPECT_FALSE(passes(1.1e-6));
}

TEST(ParityGates, SayWhatTheyAre) {
  EXPECT_EQ(Gate{.max_differ = 0}.ToString(), "differ <= 0");
  EXPECT_EQ((Gate{.max_differ_share = 1e-3, .max_nmse = 1e-9}.ToString()),
            "differ <= 0.1%, nmse <= 1e-09");
  EXPECT_EQ((Gate{.max_nmse = 1e-6, .by_stage = true}.ToString()), "by its stages, nmse <= 1e-06");
}

}  // namespace
}  // namespace gdn
