// SPDX-License-Identifier: Apache-2.0
// Every rounding point of the chunk form matters: dropping any of them is seen.
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "ops/gated_delta_rule/gated_delta_rule_ref.h"
#include "ops/gated_delta_rule/gated_delta_rule_testing.h"

namespace gdn {

static void PrintTo(const RoundingPoint& point, std::ostream* out) { *out << point.name; }

namespace {

// Of a prompt of three chunks: outputs before they are stored, and elements of the state.
int64_t CountThatDiffer(void (*ablate)(Ablation& ablation)) {
  GdrShape shape;
  shape.lengths = {130};
  shape.num_value_heads = 2;
  shape.k_dim = 64;
  shape.v_dim = 64;
  GdrInputs reference_inputs(shape);
  GdrInputs ablated_inputs = reference_inputs;
  Ablation ablation;
  ablate(ablation);
  const std::vector<float> reference = ComputeChunkRef(reference_inputs.Args(), Ablation{});
  const std::vector<float> ablated = ComputeChunkRef(ablated_inputs.Args(), ablation);
  int64_t differ = DistanceOf(ablated_inputs.state, reference_inputs.state).differ;
  for (size_t i = 0; i < reference.size(); ++i) differ += reference[i] != ablated[i] ? 1 : 0;
  return differ;
}

class GatedDeltaRuleAblation : public testing::TestWithParam<RoundingPoint> {};

TEST_P(GatedDeltaRuleAblation, ChangesTheResult) { EXPECT_GT(CountThatDiffer(GetParam().drop), 0); }

INSTANTIATE_TEST_SUITE_P(Points, GatedDeltaRuleAblation,
                         testing::ValuesIn(RoundingPoints().begin(), RoundingPoints().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(GatedDeltaRuleAblationSwitches, ChangeTheResultToo) {
  EXPECT_GT(CountThatDiffer([](Ablation& a) { a.round_o = false; }), 0);
  EXPECT_GT(CountThatDiffer([](Ablation& a) { a.f64_accumulators = true; }), 0);
}

}  // namespace
}  // namespace gdn
