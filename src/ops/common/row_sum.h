// SPDX-License-Identifier: Apache-2.0
// Sums over a row in an order that no vector width changes: element i goes to partial sum i mod 16,
// in f32 without fma, and the 16 partial sums are added as a tree.
#pragma once

#include <array>
#include <cstddef>

namespace gdn {

inline constexpr size_t kSumLanes = 16;

inline float AddPartialSums(std::array<float, kSumLanes> partial) {
  for (size_t half = kSumLanes / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) partial[i] += partial[i + half];
  }
  return partial[0];
}

// The sum of value(i)^2 for i in [0, n).
template <class Value>
float SumOfSquares(size_t n, const Value& value) {
  std::array<float, kSumLanes> partial{};
  for (size_t i = 0; i < n; ++i) {
    const float x = value(i);
    partial[i % kSumLanes] += x * x;
  }
  return AddPartialSums(partial);
}

}  // namespace gdn
