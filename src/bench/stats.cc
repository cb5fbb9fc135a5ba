// SPDX-License-Identifier: Apache-2.0
#include "bench/stats.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gdn {

Summary Summarize(std::span<const double> values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  Summary out;
  for (const double value : values) out.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.sd = values.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const size_t middle = sorted.size() / 2;
  out.median = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return out;
}

}  // namespace gdn
