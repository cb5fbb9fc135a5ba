// SPDX-License-Identifier: Apache-2.0
// What is said of many times at once, and when requests of a rate arrive.
#pragma once

#include <cstdint>
#include <vector>

namespace gdn {

// Of n values in order, the percentile p lies at p / 100 * (n - 1), between two of them in
// proportion. All are 0 where there is no value.
struct Percentiles {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};
Percentiles PercentilesOf(std::vector<double> values);

// Seconds from the start, ascending: a Poisson process of per_second > 0, the first arrival at 0.
std::vector<double> PoissonArrivals(int64_t count, double per_second, uint64_t seed);

}  // namespace gdn
