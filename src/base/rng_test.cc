// SPDX-License-Identifier: Apache-2.0
#include "base/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace gdn {
namespace {

// The first outputs of the published algorithm for these seeds.
TEST(Rng, KnownValues) {
  Rng zero(0);
  EXPECT_EQ(zero.NextU64(), 0xE220A8397B1DCDAFU);
  EXPECT_EQ(zero.NextU64(), 0x6E789E6AA1B965F4U);
  EXPECT_EQ(zero.NextU64(), 0x06C45D188009454FU);
  Rng other(1234567);
  EXPECT_EQ(other.NextU64(), 6457827717110365317U);
  EXPECT_EQ(other.NextU64(), 3203168211198807973U);
}

TEST(Rng, SkipIsThatManyNumbers) {
  Rng stepped(9);
  for (int i = 0; i < 1000; ++i) stepped.NextU64();
  Rng skipped(9);
  skipped.Skip(400);
  skipped.Skip(0);
  skipped.Skip(600);
  EXPECT_EQ(skipped.NextU64(), stepped.NextU64());
}

TEST(Rng, UniformIsTheHigh53Bits) {
  Rng rng(0);
  EXPECT_EQ(rng.NextUniform(), static_cast<double>(0xE220A8397B1DCDAFU >> 11) / 9007199254740992.0);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double x = rng.NextUniform();
    ASSERT_GE(x, 0.0);
    ASSERT_LT(x, 1.0);
    sum += x;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
}

TEST(Rng, BelowStaysBelow) {
  Rng rng(5);
  EXPECT_EQ(rng.NextBelow(1), 0U);
  uint64_t seen = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t x = rng.NextBelow(7);
    ASSERT_LT(x, 7U);
    seen |= 1ULL << x;
  }
  EXPECT_EQ(seen, 0x7FU);
}

TEST(Rng, NormalHasItsMoments) {
  Rng rng(6);
  constexpr int kCount = 200000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = rng.NextNormal();
    ASSERT_LE(std::abs(x), 6.0);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kCount, 0.0, 0.01);
  EXPECT_NEAR(squares / kCount, 1.0, 0.02);
}

}  // namespace
}  // namespace gdn
