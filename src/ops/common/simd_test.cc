// SPDX-License-Identifier: Apache-2.0
// The vector conversions and exp against their scalar twins, on every target of this machine.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/common/simd_test.cc"
#include <hwy/foreach_target.h>

#include "ops/common/scalar_math.h"
#include "ops/common/simd-inl.h"

#if HWY_ONCE
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "base/rng.h"
#include "ops/common/testing/simd_targets.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

template <class T>
void RoundAll(const float* in, size_t n, T* out) {
  ForEachVec(n, [&](size_t i, size_t count)
                    HWY_ATTR { StoreVecAny(LoadVecAny(in + i, count), out + i, count); });
}
void RoundAllBf16(const float* in, size_t n, Bf16* out) { RoundAll(in, n, out); }
void RoundAllF16(const float* in, size_t n, F16* out) { RoundAll(in, n, out); }

void WidenAllF16(const F16* in, size_t n, float* out) {
  ForEachVec(n, [&](size_t i, size_t count)
                    HWY_ATTR { StoreVecAny(LoadVecAny(in + i, count), out + i, count); });
}

void ExpAll(const float* in, size_t n, float* out) {
  ForEachVec(n, [&](size_t i, size_t count)
                    HWY_ATTR { StoreVecAny(ExpVec(LoadVecAny(in + i, count)), out + i, count); });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {
namespace {

HWY_EXPORT(RoundAllBf16);
HWY_EXPORT(RoundAllF16);
HWY_EXPORT(WidenAllF16);
HWY_EXPORT(ExpAll);

std::vector<float> Inputs() {
  std::vector<float> inputs = {0.0F,          -0.0F,        1.0F,       INFINITY,  -INFINITY,
                               65504.0F,      65519.9F,     65520.0F,   0x1p-14F,  0x1p-15F,
                               0x1p-24F,      0x1p-25F,     0x1.8p-25F, 0x1p-126F, 0x1p-149F,
                               3.3895314e38F, 3.4028235e38F};
  Rng rng(1);
  for (int i = 0; i < 200003; ++i) {  // odd, so that there is a tail
    const auto bits = static_cast<uint32_t>(rng.NextU64());
    const float x = std::bit_cast<float>(bits);
    if (!std::isnan(x)) inputs.push_back(x);
    const uint32_t near_half = 0x38000000U + (bits % 0x10000000U);  // the range of f16
    inputs.push_back(std::bit_cast<float>(near_half));
  }
  return inputs;
}

TEST(Simd, RoundsToBf16AsScalar) {
  const std::vector<float> in = Inputs();
  ForEachSimdTarget([&] {
    std::vector<Bf16> out(in.size());
    HWY_DYNAMIC_DISPATCH(RoundAllBf16)(in.data(), in.size(), out.data());
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i].bits, FromF32<Bf16>(in[i]).bits) << in[i];
  });
}

TEST(Simd, RoundsToF16AsScalar) {
  const std::vector<float> in = Inputs();
  ForEachSimdTarget([&] {
    std::vector<F16> out(in.size());
    HWY_DYNAMIC_DISPATCH(RoundAllF16)(in.data(), in.size(), out.data());
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i].bits, FromF32<F16>(in[i]).bits) << in[i];
  });
}

TEST(Simd, WidensEveryF16AsScalar) {
  std::vector<F16> in(65536);
  for (size_t i = 0; i < in.size(); ++i) in[i].bits = static_cast<uint16_t>(i);
  ForEachSimdTarget([&] {
    std::vector<float> out(in.size());
    HWY_DYNAMIC_DISPATCH(WidenAllF16)(in.data(), in.size(), out.data());
    for (size_t i = 0; i < in.size(); ++i) {
      const float want = ToF32(in[i]);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(out[i])) << i;
      } else {
        ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(want)) << i;
      }
    }
  });
}

TEST(Simd, ExpIsWithinOneAndAHalfUlp) {
  std::vector<float> in = {0.0F, -0.0F, 88.7F, -87.3F, -103.0F, -104.5F, 89.0F, 1e30F, -1e30F};
  Rng rng(2);
  for (int i = 0; i < 400000; ++i) in.push_back(static_cast<float>(rng.NextUniform() * 195 - 106));
  for (int i = 0; i < 100000; ++i) in.push_back(static_cast<float>(rng.NextUniform() * 2 - 1));
  ForEachSimdTarget([&] {
    std::vector<float> out(in.size());
    HWY_DYNAMIC_DISPATCH(ExpAll)(in.data(), in.size(), out.data());
    double worst = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      const double want = std::exp(static_cast<double>(in[i]));
      if (want > 3.4028234e38) {
        ASSERT_TRUE(std::isinf(out[i])) << in[i];
        continue;
      }
      const auto near = static_cast<float>(want);
      const double ulp = std::nextafter(near, INFINITY) - near;
      worst = std::max(worst, std::abs(out[i] - want) / ulp);
    }
    EXPECT_LE(worst, 1.5);
    RecordProperty("worst_ulp_x1000", static_cast<int>(worst * 1000));
  });
}

TEST(Simd, ExpHasTheBitsOfTheScalarOne) {
  std::vector<float> in = {0.0F, -0.0F, 88.72284F, 88.722847F, -103.97208F, -103.97209F, 1e30F};
  Rng rng(3);
  for (int i = 0; i < 400000; ++i) in.push_back(static_cast<float>(rng.NextUniform() * 195 - 106));
  for (int i = 0; i < 100000; ++i) in.push_back(static_cast<float>(rng.NextUniform() * 2 - 1));
  ForEachSimdTarget([&] {
    std::vector<float> out(in.size());
    HWY_DYNAMIC_DISPATCH(ExpAll)(in.data(), in.size(), out.data());
    for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], ExpF32(in[i])) << in[i];
  });
}

TEST(ScalarMath, LogIsWithinOneAndAHalfUlp) {
  Rng rng(4);
  double worst = 0;
  for (int i = 0; i < 400000; ++i) {
    const double scale = i % 2 == 0 ? 1e-3 : 1e6;
    const auto x = static_cast<float>(1 + rng.NextUniform() * scale);
    const double want = std::log(static_cast<double>(x));
    if (want == 0) continue;
    const auto near = static_cast<float>(want);
    worst = std::max(worst, std::abs(LogF32(x) - want) / (std::nextafter(near, INFINITY) - near));
  }
  EXPECT_LE(worst, 1.5);
  EXPECT_EQ(LogF32(1.0F), 0.0F);
  EXPECT_TRUE(std::isinf(LogF32(INFINITY)));
}

TEST(Simd, ExpKeepsNan) {
  const float in = NAN;
  float out = 0;
  HWY_DYNAMIC_DISPATCH(ExpAll)(&in, 1, &out);
  EXPECT_TRUE(std::isnan(out));
}

}  // namespace
}  // namespace gdn
#endif  // HWY_ONCE
