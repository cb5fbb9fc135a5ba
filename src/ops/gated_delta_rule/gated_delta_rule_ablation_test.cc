// SPDX-License-Identifier: Apache-2.0
// Every rounding point of the chunk form matters: dropping any of them is seen, on the dump of the
// reference by as many outputs as were counted there when the numerics were settled.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ops/common/testing/npy.h"
#include "ops/gated_delta_rule/gated_delta_rule_ref.h"
#include "ops/gated_delta_rule/gated_delta_rule_testing.h"

namespace gdn {
namespace {

struct AblationCase {
  const char* name;
  int differ_on_dump;    // of 8192 outputs after rounding; the dump's longest sequence is 20
  double state_on_dump;  // largest distance of the state, to two digits
  void (*apply)(Ablation& ablation);
};

const std::vector<AblationCase>& Cases() {
  static const std::vector<AblationCase> cases = {
      {"cumsum_left_to_right", 1, 3.1e-5, [](Ablation& a) { a.tree_scan = false; }},
      {"kkt_ieee", 62, 0.44e-3, [](Ablation& a) { a.kkt = KktMode::kIeee; }},
      {"kkt_tf32_nearest", 98, 1.7e-3, [](Ablation& a) { a.kkt = KktMode::kTf32Nearest; }},
      {"kkt_bf16", 358, 0.86e-3, [](Ablation& a) { a.kkt = KktMode::kBf16; }},
      {"a_inverse", 179, 7.6e-4, [](Ablation& a) { a.round_a_inverse = false; }},
      {"v_beta", 2664, 3.4e-3, [](Ablation& a) { a.round_v_beta = false; }},
      {"u", 1305, 1.6e-3, [](Ablation& a) { a.round_u = false; }},
      {"p", 2703, 3.0e-8, [](Ablation& a) { a.round_p = false; }},
      {"v_new", 1228, 3.0e-8, [](Ablation& a) { a.round_v_new = false; }},
      {"state_in_qh", 754, 3.0e-8, [](Ablation& a) { a.round_state_in_qh = false; }},
      {"k_beta_decay", 173, 1.6e-5, [](Ablation& a) { a.round_k_beta_decay = false; }},
      {"w", 125, 1.6e-6, [](Ablation& a) { a.round_w = false; }},
      {"state_in_wh", 148, 1.2e-6, [](Ablation& a) { a.round_state_in_wh = false; }},
      {"v_decayed", 0, 7.4e-4, [](Ablation& a) { a.round_v_decayed = false; }},
      {"v_decayed_from_v_new", 0, 5.1e-4, [](Ablation& a) { a.v_decayed_from_v_new = true; }},
      {"chunk_16", 427, 3.1e-3, [](Ablation& a) { a.chunk_size = 16; }},
      {"chunk_32", 0, 3.0e-8, [](Ablation& a) { a.chunk_size = 32; }},
      {"f64_accumulators", 0, 3.0e-8, [](Ablation& a) { a.f64_accumulators = true; }},
      {"o", 0, 3.0e-8, [](Ablation& a) { a.round_o = false; }},
  };
  return cases;
}

class GatedDeltaRuleAblation : public testing::TestWithParam<AblationCase> {};

TEST_P(GatedDeltaRuleAblation, DiffersOnTheDumpAsCounted) {
  const Golden golden("gdn_prefill_bf16_realdims");
  if (!golden.exists()) GTEST_SKIP() << golden.Missing();
  const NpyArray state = golden["state_in"];
  const std::vector<float> want = golden["out"].F32();
  const std::vector<float> want_state = golden["state_out"].F32();
  std::vector<float> pool = state.F32();
  pool.insert(pool.begin(), pool.size() / 2, 0.0F);  // the null slot
  const NpyArray q = golden["q"];
  const NpyArray k = golden["k"];
  const NpyArray v = golden["v"];
  const NpyArray log_decay = golden["g"];
  const NpyArray beta = golden["beta"];
  const std::vector<int32_t> cu_seqlens = golden["query_start_loc"].I32();
  const std::vector<int32_t> slots = {1, 2};
  const std::vector<uint8_t> has_initial_state = {1, 0};
  GatedDeltaRuleArgs args;
  args.q = q.view();
  args.k = k.view();
  args.v = v.view();
  args.log_decay = log_decay.view();
  args.beta = beta.view();
  args.state = Tensor(pool.data(), {3, 2, 128, 128});
  args.cu_seqlens = cu_seqlens;
  args.state_slots = slots;
  args.has_initial_state = has_initial_state;
  args.scale = static_cast<float>(1 / std::sqrt(128.0));

  Ablation ablation;
  GetParam().apply(ablation);
  const std::vector<float> out = ComputeChunkRef(args, ablation);
  int differ = 0;
  for (size_t i = 0; i < out.size(); ++i) differ += RoundTo<Bf16>(out[i]) != want[i] ? 1 : 0;
  double state_max = 0;
  const size_t slot_size = want_state.size() / 2;
  for (size_t i = 0; i < want_state.size(); ++i) {
    state_max =
        std::max(state_max, std::abs(static_cast<double>(pool[slot_size + i]) - want_state[i]));
  }
  EXPECT_EQ(differ, GetParam().differ_on_dump);
  EXPECT_NEAR(state_max, GetParam().state_on_dump, 0.05 * GetParam().state_on_dump);
}

TEST_P(GatedDeltaRuleAblation, ChangesTheResult) {
  GdrShape shape;
  shape.lengths = {130};
  shape.num_value_heads = 2;
  shape.k_dim = 64;
  shape.v_dim = 64;
  GdrInputs reference_inputs(shape);
  GdrInputs ablated_inputs = reference_inputs;
  Ablation ablation;
  GetParam().apply(ablation);
  const std::vector<float> reference = ComputeChunkRef(reference_inputs.Args(), Ablation{});
  const std::vector<float> ablated = ComputeChunkRef(ablated_inputs.Args(), ablation);
  int64_t differ = 0;
  for (size_t i = 0; i < reference.size(); ++i) differ += reference[i] != ablated[i] ? 1 : 0;
  differ += DistanceOf(ablated_inputs.state, reference_inputs.state).differ;
  EXPECT_GT(differ, 0);
}

INSTANTIATE_TEST_SUITE_P(Points, GatedDeltaRuleAblation, testing::ValuesIn(Cases()),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace gdn
