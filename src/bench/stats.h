// SPDX-License-Identifier: Apache-2.0
// What a number of repetitions says.
#pragma once

#include <span>

namespace gdn {

struct Summary {
  double mean = 0;
  double sd = 0;      // of the sample, n - 1; 0 for one value
  double median = 0;  // the mean of the two middle ones of an even number
};

// Of no values, all are 0.
Summary Summarize(std::span<const double> values);

inline double Median(std::span<const double> values) { return Summarize(values).median; }

}  // namespace gdn
