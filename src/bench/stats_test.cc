// SPDX-License-Identifier: Apache-2.0
#include "bench/stats.h"

#include <gtest/gtest.h>

#include <vector>

namespace gdn {
namespace {

TEST(Stats, OfOddAndEvenNumbersOfValues) {
  const Summary odd = Summarize(std::vector<double>{9, 1, 2});
  EXPECT_DOUBLE_EQ(odd.mean, 4);
  EXPECT_DOUBLE_EQ(odd.median, 2);
  EXPECT_DOUBLE_EQ(odd.sd * odd.sd, 19);  // (25 + 9 + 4) / 2
  const Summary even = Summarize(std::vector<double>{4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(even.median, 2.5);
  EXPECT_DOUBLE_EQ(even.mean, 2.5);
}

TEST(Stats, OneValueHasNoDeviation) {
  const Summary one = Summarize(std::vector<double>{3});
  EXPECT_DOUBLE_EQ(one.mean, 3);
  EXPECT_DOUBLE_EQ(one.median, 3);
  EXPECT_EQ(one.sd, 0);
}

TEST(Stats, NoValuesAreZero) {
  const Summary none = Summarize({});
  EXPECT_EQ(none.mean, 0);
  EXPECT_EQ(none.sd, 0);
  EXPECT_EQ(none.median, 0);
}

}  // namespace
}  // namespace gdn
