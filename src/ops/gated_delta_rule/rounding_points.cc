// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ops/gated_delta_rule/gated_delta_rule_ref.h"

namespace gdn {
namespace {

// o is not among them: the output's dtype is its rounding.
constexpr std::array<RoundingPoint, 17> kPoints = {{
    {"cumsum_tree", false, [](Ablation& a) { a.tree_scan = false; }},
    {"kkt_truncation", false, [](Ablation& a) { a.kkt = KktMode::kIeee; }},
    {"kkt_truncation_to_nearest", false, [](Ablation& a) { a.kkt = KktMode::kTf32Nearest; }},
    {"kkt_truncation_to_bf16", false, [](Ablation& a) { a.kkt = KktMode::kBf16; }},
    {"a_inverse", true, [](Ablation& a) { a.round_a_inverse = false; }},
    {"v_beta", true, [](Ablation& a) { a.round_v_beta = false; }},
    {"k_beta_decay", true, [](Ablation& a) { a.round_k_beta_decay = false; }},
    {"u", true, [](Ablation& a) { a.round_u = false; }},
    {"w", true, [](Ablation& a) { a.round_w = false; }},
    {"state_in_qh", true, [](Ablation& a) { a.round_state_in_qh = false; }},
    {"state_in_wh", true, [](Ablation& a) { a.round_state_in_wh = false; }},
    {"v_new", true, [](Ablation& a) { a.round_v_new = false; }},
    {"v_decayed", true, [](Ablation& a) { a.round_v_decayed = false; }},
    {"v_decayed_origin", false, [](Ablation& a) { a.v_decayed_from_v_new = true; }},
    {"p", true, [](Ablation& a) { a.round_p = false; }},
    {"chunk_size_to_16", false, [](Ablation& a) { a.chunk_size = 16; }},
    {"chunk_size_to_32", false, [](Ablation& a) { a.chunk_size = 32; }},
}};

}  // namespace

std::span<const RoundingPoint> RoundingPoints() { return kPoints; }

}  // namespace gdn
