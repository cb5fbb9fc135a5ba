// SPDX-License-Identifier: Apache-2.0
#include "bench_serve/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gdn {
namespace {

TEST(Percentiles, LieBetweenTheValues) {
  const Percentiles p = PercentilesOf({4, 1, 3, 2, 5});
  EXPECT_DOUBLE_EQ(p.mean, 3);
  EXPECT_DOUBLE_EQ(p.p50, 3);
  EXPECT_DOUBLE_EQ(p.p90, 4.6);
  EXPECT_DOUBLE_EQ(p.p99, 4.96);
}

TEST(Percentiles, OfOneValueAndOfNone) {
  EXPECT_DOUBLE_EQ(PercentilesOf({7}).p99, 7);
  EXPECT_DOUBLE_EQ(PercentilesOf({}).mean, 0);
  EXPECT_DOUBLE_EQ(PercentilesOf({}).p50, 0);
}

TEST(PoissonArrivals, HaveTheRateAndItsSpread) {
  constexpr int64_t kCount = 20000;
  constexpr double kRate = 50;
  const std::vector<double> times = PoissonArrivals(kCount, kRate, 3);
  ASSERT_EQ(times.size(), kCount);
  EXPECT_EQ(times[0], 0);
  EXPECT_TRUE(std::ranges::is_sorted(times));
  double sum_of_squares = 0;
  for (size_t i = 1; i < times.size(); ++i) {
    const double gap = times[i] - times[i - 1];
    sum_of_squares += gap * gap;
  }
  const double mean = times.back() / (kCount - 1);
  // Of an exponential distribution the mean square is twice the square of the mean. The deviations
  // of the two estimates are 0.7 % and 2.2 %: four of them.
  EXPECT_NEAR(mean * kRate, 1, 0.03);
  EXPECT_NEAR(sum_of_squares / (kCount - 1) * kRate * kRate, 2, 0.18);
}

TEST(PoissonArrivals, FollowTheSeed) {
  EXPECT_EQ(PoissonArrivals(100, 2, 1), PoissonArrivals(100, 2, 1));
  EXPECT_NE(PoissonArrivals(100, 2, 1), PoissonArrivals(100, 2, 2));
}

}  // namespace
}  // namespace gdn
