// SPDX-License-Identifier: Apache-2.0
// Ways to evaluate the 16-bit prefill that are not the reference: they show that the gates see a
// difference, and how large it is.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "ops/gated_delta_rule/gated_delta_rule_ref.h"

namespace gdn {

struct Numerics {
  enum class Kind : uint8_t {
    kReference,      // the operator's public entry
    kRecurrenceF32,  // token by token, q, k, v as they stand
    kRecurrenceF64,
    kChunk,  // the scalar chunk form with the ablation below
  };
  Kind kind = Kind::kReference;
  std::string name = "reference";  // what ParseNumerics was given
  Ablation ablation;
};

// Whether the evaluation is the chunk form, whose stages can be looked at.
inline bool HasStages(const Numerics& numerics) {
  return numerics.kind == Numerics::Kind::kReference || numerics.kind == Numerics::Kind::kChunk;
}

// "reference", "recurrence_f32", "recurrence_f64", "chunk", "chunk_unrounded", or "drop:" and one
// of RoundingPoints(). Errors: kInvalidArgument, with the list.
Result<Numerics> ParseNumerics(std::string_view name);

// out as f32 [T, HV, V] and args.state as the evaluation leaves it; kind is not kReference. args
// have been validated.
std::vector<float> Evaluate(const Numerics& numerics, const ExecContext& ctx,
                            const GatedDeltaRuleArgs& args);

}  // namespace gdn
