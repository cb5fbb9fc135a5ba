// SPDX-License-Identifier: Apache-2.0
#include "bench_serve/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace gdn {

Percentiles PercentilesOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto at = [&values](double percent) {
    const double place = percent / 100 * static_cast<double>(values.size() - 1);
    const auto low = static_cast<size_t>(place);
    const size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (place - static_cast<double>(low)) * (values[high] - values[low]);
  };
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return {sum / static_cast<double>(values.size()), at(50), at(90), at(99)};
}

std::vector<double> PoissonArrivals(int64_t count, double per_second, uint64_t seed) {
  Rng rng(seed);
  std::vector<double> times;
  double time = 0;
  for (int64_t i = 0; i < count; ++i) {
    times.push_back(time);
    time -= std::log1p(-rng.NextUniform()) / per_second;  // the argument is above -1
  }
  return times;
}

}  // namespace gdn
