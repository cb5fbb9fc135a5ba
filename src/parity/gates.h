// SPDX-License-Identifier: Apache-2.0
// The gates of parity, all of them: how far an output may be from its golden. None is loosened
// without a decision record in docs/decisions/ that says why, with the measurement.
#pragma once

#include <optional>
#include <string>

#include "parity/distance.h"
#include "parity/golden_case.h"

namespace gdn {

// Every bound that is there must hold.
struct Gate {
  std::optional<int64_t> max_differ;
  std::optional<double> max_differ_share;
  std::optional<int64_t> max_ulps;
  std::optional<double> max_abs;
  std::optional<double> max_abs_of_largest;  // times the golden's largest magnitude
  std::optional<double> max_nmse;
  bool by_stage = false;  // the case's stages decide; what else is set is a bound all the same

  bool Passes(const Distance& distance) const;
  // "differ <= 0.1%, nmse <= 1e-09"
  std::string ToString() const;
};

// Which rule an output of a case falls under, the first that fits:
// - router ids: equal; router weights: 2e-7;
// - copies (conv state, residual) and sums in a fixed order (cum_log_decay): equal;
// - packed decode in 16 bits: equal, but for at most 16 elements of the state, by one step each;
// - silu_and_mul, rmsnorm and moe_block in 16 bits: equal;
// - gdn_prefill in 16 bits of a case without noise: out equal, state within 1e-7;
// - the whole kernel where the decay is weak over more than one chunk: by stage, and nmse within
//   max(1e-6 in bf16 and 2e-8 in f16, 4 x noise): a tenth of the recurrence's distance;
// - other 16-bit outputs, and the state of a 16-bit prefill (nmse alone): differ <= max(0.1%, 4 x
//   noise), nmse <= max(1e-9, 4 x noise);
// - f32: nmse <= 1e-12 and max abs <= 1e-6 x the largest.
//
// noise_key: what the manifest calls the noise of this output. by_stage: whether it is one of a
// whole kernel that IsGatedByStage.
Gate GateFor(const GoldenCase& golden, const std::string& output, const std::string& noise_key,
             const Distance& distance, bool by_stage = false);

// True where bf16 noise of the order of additions grows from chunk to chunk: a 16-bit prefill with
// a sequence of more than one chunk and a head whose mean log decay there is above -0.02.
Result<bool> IsGatedByStage(const GoldenCase& golden);

}  // namespace gdn
