// SPDX-License-Identifier: Apache-2.0
// Every 16-bit pattern, and every boundary between two of them, against values computed in double
// from the definition of the formats.
#include "base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/rng.h"

namespace gdn {
namespace {

struct Format {
  int exponent_bits;
  int mantissa_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int max_exponent() const { return (1 << exponent_bits) - 1; }
  uint32_t infinity() const { return static_cast<uint32_t>(max_exponent()) << mantissa_bits; }
};

constexpr Format kF16 = {5, 10};
constexpr Format kBf16 = {8, 7};

// The value of a pattern without sign; infinity and above give the value that the next finite
// number would have, which is where rounding to infinity is measured from.
double Magnitude(const Format& format, uint32_t bits) {
  const auto mantissa = static_cast<double>(bits & ((1U << format.mantissa_bits) - 1));
  const auto exponent = static_cast<int>(bits >> format.mantissa_bits);
  const double unit = std::ldexp(1.0, -format.mantissa_bits);
  if (exponent == 0) return std::ldexp(mantissa * unit, 1 - format.bias());
  return std::ldexp(1.0 + mantissa * unit, exponent - format.bias());
}

template <class T>
void CheckEveryPattern(const Format& format) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const T half = {static_cast<uint16_t>(bits)};
    const float got = ToF32(half);
    const uint32_t magnitude = bits & 0x7FFF;
    ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0) << bits;
    if (magnitude > format.infinity()) {
      ASSERT_TRUE(std::isnan(got)) << bits;
      const uint16_t back = FromF32<T>(got).bits;
      ASSERT_TRUE(std::isnan(ToF32(T{back}))) << bits;
      ASSERT_EQ(back & 0x8000, bits & 0x8000) << bits;
      ASSERT_NE(back & (1U << (format.mantissa_bits - 1)), 0U) << "a quiet NaN: " << bits;
      continue;
    }
    if (magnitude == format.infinity()) {
      ASSERT_TRUE(std::isinf(got)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(std::abs(got)), Magnitude(format, magnitude)) << bits;
    }
    ASSERT_EQ(FromF32<T>(got).bits, bits) << got;
    ASSERT_EQ(RoundTo<T>(got), got);
  }
}

// Between every pattern and the next: the midpoint goes to the even one, its neighbours in f32 to
// the nearer one. The last midpoint is the one below infinity.
template <class T>
void CheckEveryTie(const Format& format) {
  for (uint32_t bits = 0; bits < format.infinity(); ++bits) {
    const double middle = (Magnitude(format, bits) + Magnitude(format, bits + 1)) / 2;
    const auto tie = static_cast<float>(middle);
    ASSERT_EQ(static_cast<double>(tie), middle) << "the midpoint is no f32: " << bits;
    const uint32_t even = bits + (bits & 1);
    ASSERT_EQ(FromF32<T>(tie).bits, even) << tie;
    ASSERT_EQ(FromF32<T>(-tie).bits, even | 0x8000) << tie;
    ASSERT_EQ(FromF32<T>(std::nextafter(tie, 0.0F)).bits, bits) << tie;
    const float above = std::nextafter(tie, std::numeric_limits<float>::infinity());
    ASSERT_EQ(FromF32<T>(above).bits, bits + 1) << tie;
  }
}

// Random f32 patterns: no 16-bit neighbour is nearer than the one chosen.
template <class T>
void CheckRandom(const Format& format) {
  Rng rng(3);
  for (int i = 0; i < 1000000; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(rng.NextU64()));
    if (!std::isfinite(x)) continue;
    const uint32_t bits = FromF32<T>(x).bits;
    const uint32_t magnitude = bits & 0x7FFF;
    ASSERT_EQ((bits & 0x8000) != 0, std::signbit(x));
    ASSERT_LE(magnitude, format.infinity()) << x;
    const auto error = [&](uint32_t candidate) {
      return std::abs(std::abs(static_cast<double>(x)) - Magnitude(format, candidate));
    };
    if (magnitude > 0) {
      ASSERT_LE(error(magnitude), error(magnitude - 1)) << x;
    }
    if (magnitude < format.infinity()) {
      ASSERT_LE(error(magnitude), error(magnitude + 1)) << x;
    }
  }
}

TEST(Half, F16EveryPatternBothWays) { CheckEveryPattern<F16>(kF16); }
TEST(Half, Bf16EveryPatternBothWays) { CheckEveryPattern<Bf16>(kBf16); }
TEST(Half, F16EveryTieGoesToEven) { CheckEveryTie<F16>(kF16); }
TEST(Half, Bf16EveryTieGoesToEven) { CheckEveryTie<Bf16>(kBf16); }
TEST(Half, F16NothingIsNearer) { CheckRandom<F16>(kF16); }
TEST(Half, Bf16NothingIsNearer) { CheckRandom<Bf16>(kBf16); }

TEST(Half, OverflowIsInfinity) {
  EXPECT_EQ(FromF32<F16>(65519.996F).bits, 0x7BFF);
  EXPECT_EQ(FromF32<F16>(65520.0F).bits, 0x7C00);
  EXPECT_EQ(FromF32<F16>(1e30F).bits, 0x7C00);
  EXPECT_EQ(FromF32<F16>(-INFINITY).bits, 0xFC00);
  EXPECT_EQ(FromF32<Bf16>(3.4028235e38F).bits, 0x7F80);
  EXPECT_EQ(FromF32<Bf16>(-INFINITY).bits, 0xFF80);
}

TEST(Half, NanPayloadThatLiesInTheLowBitsStaysNan) {
  const float nan = std::bit_cast<float>(0x7F800001U);
  EXPECT_TRUE(std::isnan(ToF32(FromF32<Bf16>(nan))));
  EXPECT_TRUE(std::isnan(ToF32(FromF32<F16>(nan))));
}

TEST(Half, F32IsLeftAlone) {
  EXPECT_EQ(RoundTo<float>(0.1F), 0.1F);
  EXPECT_EQ(ToF32(0.1F), 0.1F);
}

}  // namespace
}  // namespace gdn
