// SPDX-License-Identifier: Apache-2.0
#include "parity/distance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace gdn {
namespace {

Distance CompareF32(std::vector<float> got, std::vector<float> want) {
  const Shape shape{static_cast<int64_t>(got.size())};
  return Compare(ConstTensor(got.data(), shape), ConstTensor(want.data(), shape), /*widened=*/true);
}

TEST(ParityDistance, CountsBitsOfAnF32Golden) {
  const float one_up = std::nextafter(1.1F, 2.0F);
  const Distance d = CompareF32({1.1F, one_up, 3.3F}, {1.1F, 1.1F, 3.3F});
  EXPECT_EQ(d.dtype, DType::kF32);
  EXPECT_EQ(d.elements, 3);
  EXPECT_EQ(d.differ, 1);
  EXPECT_EQ(d.max_ulps, 1);
  EXPECT_EQ(d.max_abs, static_cast<double>(one_up) - 1.1F);
  EXPECT_FLOAT_EQ(static_cast<float>(d.largest), 3.3F);
}

TEST(ParityDistance, GoldenOfBf16ValuesCountsAsBf16) {
  // 1.001 rounds to 1 in bf16, whose next value is 1.0078125; the distance is that of the f32.
  const Distance d = CompareF32({1.001F, 1.0078125F, -2}, {1, 1, -2});
  EXPECT_EQ(d.dtype, DType::kBf16);
  EXPECT_EQ(d.differ, 1);
  EXPECT_EQ(d.max_ulps, 1);
  EXPECT_NEAR(d.max_abs, 0.0078125, 1e-9);
  EXPECT_NEAR(d.nmse, (1e-6 + 0.0078125 * 0.0078125) / 6, 1e-8);
}

TEST(ParityDistance, OfAnF32ModelNothingCountsAsBf16) {
  const std::vector<float> got = {1.001F};
  const std::vector<float> want = {1};
  const Distance d =
      Compare(ConstTensor(got.data(), {1}), ConstTensor(want.data(), {1}), /*widened=*/false);
  EXPECT_EQ(d.dtype, DType::kF32);
  EXPECT_EQ(d.differ, 1);
}

TEST(ParityDistance, StepsCrossZero) {
  const std::vector<Bf16> got = {FromF32<Bf16>(0x1p-133F)};  // the smallest
  const std::vector<Bf16> want = {FromF32<Bf16>(-0x1p-133F)};
  const Distance d =
      Compare(ConstTensor(got.data(), {1}), ConstTensor(want.data(), {1}), /*widened=*/true);
  EXPECT_EQ(d.differ, 1);
  EXPECT_EQ(d.max_ulps, 3);  // -x, -0, 0, x
}

TEST(ParityDistance, NanIsFarFromANumberAndNearItself) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(CompareF32({nan}, {1.1F}).max_abs, std::numeric_limits<double>::infinity());
  EXPECT_EQ(CompareF32({1.1F}, {nan}).max_abs, std::numeric_limits<double>::infinity());
  EXPECT_EQ(CompareF32({nan}, {nan}).differ, 0);
  EXPECT_EQ(CompareF32({nan}, {nan}).max_abs, 0);
}

TEST(ParityDistance, AnythingAgainstZerosIsInfinitelyFar) {
  EXPECT_EQ(CompareF32({0, 1e-30F}, {0, 0}).nmse, std::numeric_limits<double>::infinity());
  EXPECT_EQ(CompareF32({0, 0}, {0, 0}).nmse, 0);
}

TEST(ParityDistance, ComparesIntegers) {
  const std::vector<int32_t> got = {1, 2, 3};
  const std::vector<int32_t> want = {1, 5, 3};
  const Distance d =
      Compare(ConstTensor(got.data(), {3}), ConstTensor(want.data(), {3}), /*widened=*/true);
  EXPECT_EQ(d.differ, 1);
  EXPECT_EQ(d.max_abs, 3);
}

}  // namespace
}  // namespace gdn
