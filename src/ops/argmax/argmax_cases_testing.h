// SPDX-License-Identifier: Apache-2.0
// Rows and where their largest element is.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/rng.h"

namespace gdn {

struct ArgmaxCase {
  std::vector<float> row;
  int32_t want;
};

// Of every size that a block of 256 threads meets in a way of its own.
inline std::vector<ArgmaxCase> ArgmaxCases() {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  std::vector<ArgmaxCase> cases = {
      {{-3}, 0},          {{kNan}, -1},         {{-kInf, -kInf}, -1},  {{kNan, -kInf, -7, kNan}, 2},
      {{1, 2, 2, 1}, 1},  {{-0.0F, 0.0F}, 0},   {{0.0F, -0.0F}, 0},    {{-kTiny, -0.0F, -kTiny}, 1},
      {{0, kTiny, 0}, 1}, {{kInf, 1, kInf}, 0}, {{-kNan, -kInf}, -1},  {{-2, -1, -1, -3}, 1},
      {{-kInf, 0}, 1},    {{3e38F, kInf}, 1},   {{-kNan, kNan, 5}, 2}, {{-3e38F, -kInf}, 0}};
  Rng rng(7);
  for (const size_t n : {31U, 255U, 256U, 257U, 1000U, 2047U, 2048U, 2049U, 4099U}) {
    for (const size_t at : {size_t{0}, n / 2, n - 1}) {
      std::vector<float> row(n);
      for (float& x : row) x = static_cast<float>(rng.NextNormal());
      row[at] = 100;
      if (at + 1 < n) row[n - 1] = 100;  // the later one of two equal ones
      cases.push_back({std::move(row), static_cast<int32_t>(at)});
    }
  }
  return cases;
}

}  // namespace gdn
