// SPDX-License-Identifier: Apache-2.0
// The largest logits of one row, for people who compare models.
#pragma once

#include <cstdint>
#include <span>

namespace gdn {

inline constexpr int64_t kMaxTopLogits = 1024;

struct TokenLogit {
  int32_t token = -1;
  float logit = 0;
};

// Fills top with the largest logits, largest first, ties to the lower id. NaN is passed over; where
// there are fewer others than top has entries, the rest become {-1, -inf}. Allocates nothing.
void FindTopLogits(std::span<const float> logits, std::span<TokenLogit> top);

// log sum exp of a row: the log probability of a token is its logit less this. In double; NaN is
// passed over. -inf where every logit is -inf, +inf where one is.
double LogSumExp(std::span<const float> logits);

}  // namespace gdn
