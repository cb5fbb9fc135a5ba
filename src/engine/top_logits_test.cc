// SPDX-License-Identifier: Apache-2.0
#include "engine/top_logits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/rng.h"

namespace gdn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<int32_t> TopIds(const std::vector<float>& logits, size_t count) {
  std::vector<TokenLogit> top(count);
  FindTopLogits(logits, top);
  std::vector<int32_t> ids;
  for (const TokenLogit& entry : top) {
    ids.push_back(entry.token);
    if (entry.token >= 0) {
      EXPECT_EQ(entry.logit, logits[static_cast<size_t>(entry.token)]);
    } else {
      EXPECT_EQ(entry.logit, -kInfinity);
    }
  }
  return ids;
}

TEST(TopLogits, TiesGoToTheLowerId) {
  EXPECT_EQ(TopIds({1, 3, 2, 3, 3}, 4), (std::vector<int32_t>{1, 3, 4, 2}));
}

TEST(TopLogits, NanIsPassedOverAndMissingEntriesSaySo) {
  EXPECT_EQ(TopIds({NAN, -kInfinity, NAN, 2}, 4), (std::vector<int32_t>{3, 1, -1, -1}));
  EXPECT_EQ(TopIds({}, 2), (std::vector<int32_t>{-1, -1}));
  EXPECT_EQ(TopIds({1, 2}, 0), std::vector<int32_t>{});
}

TEST(TopLogits, EqualsAStableSort) {
  Rng rng(7);
  std::vector<float> logits(1000);
  for (float& x : logits) x = static_cast<float>(std::round(8 * rng.NextNormal()));
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int32_t a, int32_t b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  for (const size_t count : {size_t{1}, size_t{2}, size_t{17}, size_t{1000}}) {
    EXPECT_EQ(TopIds(logits, count),
              std::vector<int32_t>(order.begin(), order.begin() + static_cast<int64_t>(count)));
  }
}

TEST(LogSumExp, OfNumbersAndOfWhatIsNone) {
  EXPECT_NEAR(LogSumExp(std::vector<float>{0, 0}), std::log(2.0), 1e-15);
  EXPECT_NEAR(LogSumExp(std::vector<float>{1000, 1000, NAN}), 1000 + std::log(2.0), 1e-12);
  EXPECT_NEAR(LogSumExp(std::vector<float>{-1, -kInfinity, 2}),
              std::log(std::exp(-1.0) + std::exp(2.0)), 1e-12);
  EXPECT_EQ(LogSumExp(std::vector<float>{-kInfinity, NAN}), -kInfinity);
  EXPECT_EQ(LogSumExp(std::vector<float>{kInfinity, 1}), kInfinity);
}

}  // namespace
}  // namespace gdn
