// SPDX-License-Identifier: Apache-2.0
#include "engine/top_logits.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gdn {

void FindTopLogits(std::span<const float> logits, std::span<TokenLogit> top) {
  size_t found = 0;
  for (size_t i = 0; i < logits.size() && !top.empty(); ++i) {
    const float logit = logits[i];
    if (std::isnan(logit) || (found == top.size() && logit <= top.back().logit)) continue;
    // Ids ascend: a tie goes behind those already there.
    const auto end = top.begin() + static_cast<std::ptrdiff_t>(found);
    const auto at = std::upper_bound(
        top.begin(), end, logit, [](float x, const TokenLogit& other) { return x > other.logit; });
    found = std::min(found + 1, top.size());
    const auto last = top.begin() + static_cast<std::ptrdiff_t>(found) - 1;
    std::move_backward(at, last, last + 1);
    *at = {static_cast<int32_t>(i), logit};
  }
  std::fill(top.begin() + static_cast<std::ptrdiff_t>(found), top.end(),
            TokenLogit{-1, -std::numeric_limits<float>::infinity()});
}

double LogSumExp(std::span<const float> logits) {
  float max = -std::numeric_limits<float>::infinity();
  for (const float logit : logits) max = logit > max ? logit : max;  // not so for NaN
  if (!std::isfinite(max)) return max;
  double sum = 0;
  for (const float logit : logits) {
    if (!std::isnan(logit)) sum += std::exp(static_cast<double>(logit) - max);
  }
  return max + std::log(sum);
}

}  // namespace gdn
