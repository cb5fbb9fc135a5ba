// SPDX-License-Identifier: Apache-2.0
// What kernels share: elements of the three dtypes, roundings, exp and log. Rounding is integer
// arithmetic, and exp and log have the steps and the bits of scalar_math.h.
#pragma once

#include "backend/gpu/port.h"

namespace gdn::GDN_GPU_NAMESPACE {

struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

GDN_DEVICE float ToF32(float x) { return x; }
GDN_DEVICE float ToF32(Bf16 x) { return FloatOf(static_cast<uint32_t>(x.bits) << 16); }
// Without a branch: it stands in inner loops.
GDN_DEVICE float ToF32(F16 x) {
  const uint32_t magnitude = x.bits & 0x7FFFU;
  const uint32_t normal = (magnitude << 13) + (magnitude >= 0x7C00 ? 0x70000000U : 0x38000000U);
  // 2^-24 a unit
  const uint32_t subnormal = BitsOf(static_cast<float>(magnitude) * 5.9604644775390625e-8F);
  return FloatOf((x.bits & 0x8000U) << 16 | (magnitude < 0x400 ? subnormal : normal));
}

template <class T>
GDN_DEVICE T FromF32(float x);

template <>
GDN_DEVICE float FromF32<float>(float x) {
  return x;
}
// To the nearest, ties to even; NaN stays one.
template <>
GDN_DEVICE Bf16 FromF32<Bf16>(float x) {
  const uint32_t bits = BitsOf(x);
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const uint32_t rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
  return {static_cast<uint16_t>(is_nan ? bits >> 16 | 0x40U : rounded)};
}
// With subnormals and infinities.
template <>
GDN_DEVICE F16 FromF32<F16>(float x) {
  const uint32_t bits = BitsOf(x);
  const uint32_t sign = bits >> 16 & 0x8000U;
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return {static_cast<uint16_t>(sign | 0x7E00U)};
  if (magnitude >= 0x477FF000U) return {static_cast<uint16_t>(sign | 0x7C00U)};  // 65520 and more
  if (magnitude >= 0x38800000U) {                                                // normal
    const uint32_t rounded = magnitude + 0xFFFU + (magnitude >> 13 & 1U);
    return {static_cast<uint16_t>(sign | (rounded - 0x38000000U) >> 13)};
  }
  if (magnitude < 0x33000000U) return {static_cast<uint16_t>(sign)};  // below half the smallest
  const uint32_t shift = 126U - (magnitude >> 23);
  const uint32_t mantissa = (magnitude & 0x7FFFFFU) | 0x800000U;
  const uint32_t kept = mantissa >> shift;
  const uint32_t rest = mantissa & ((1U << shift) - 1U);
  const uint32_t half_step = 1U << (shift - 1U);
  const bool up = rest > half_step || (rest == half_step && (kept & 1U) == 1U);
  return {static_cast<uint16_t>(sign | (kept + (up ? 1U : 0U)))};
}

template <class T>
GDN_DEVICE float Round(float x) {
  return ToF32(FromF32<T>(x));
}
// As the TF32 operand of NVIDIA's tensor cores: 10 bits of the mantissa are kept.
GDN_DEVICE float TruncateToTf32(float x) { return FloatOf(BitsOf(x) & 0xFFFFE000U); }

// One of the two elements of a pair.
template <class T>
GDN_DEVICE float FromHalf(uint32_t pair, uint32_t half) {
  return ToF32(T{static_cast<uint16_t>(half == 0 ? pair & 0xFFFFU : pair >> 16)});
}

GDN_DEVICE float Exp(float x) {
  if (x != x) return x;
  if (x > 88.72284F) return FloatOf(0x7F800000U);
  if (x < -103.97208F) return 0;
  const float n = RoundEven(x * 1.44269504F);
  const float high = x - n * 0.693359375F;
  const float r = high + n * 2.12194440e-4F;
  float p = 1.9841270e-4F;
  p = p * r + 1.3888889e-3F;
  p = p * r + 8.3333333e-3F;
  p = p * r + 4.1666667e-2F;
  p = p * r + 1.6666667e-1F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const int whole = static_cast<int>(n);
  const int first = whole / 2;
  const float scaled = p * FloatOf(static_cast<uint32_t>(first + 127) << 23);
  return scaled * FloatOf(static_cast<uint32_t>(whole - first + 127) << 23);
}

// For x >= 1.
GDN_DEVICE float Log(float x) {
  const uint32_t bits = BitsOf(x);
  if (bits >= 0x7F800000U) return x;
  const uint32_t above = bits - 0x3F3504F3U;
  const float n = static_cast<float>(static_cast<int>(above) >> 23);
  const float f = FloatOf((above & 0x7FFFFFU) + 0x3F3504F3U) - 1.0F;
  const float s = f / (2.0F + f);
  const float z = s * s;
  float series = 0.18181819F;
  series = series * z + 0.22222222F;
  series = series * z + 0.2857143F;
  series = series * z + 0.4F;
  series = series * z + 0.6666667F;
  const float half_square = 0.5F * f * f;
  const float rest = s * (half_square + series * z) + n * -2.12194440e-4F;
  return n * 0.693359375F + (f - (half_square - rest));
}

GDN_DEVICE float Sigmoid(float x) { return 1.0F / (1.0F + Exp(-x)); }
GDN_DEVICE float Silu(float x) { return x / (1.0F + Exp(-x)); }

// Sixteen partial sums folded in halves, as AddPartialSums of row_sum.h.
GDN_DEVICE float FoldSums(const float (&partial)[16]) {
  float sums[8];
  GDN_UNROLL for (int i = 0; i < 8; ++i) sums[i] = partial[i] + partial[i + 8];
  GDN_UNROLL for (int i = 0; i < 4; ++i) sums[i] += sums[i + 4];
  const float low = sums[0] + sums[2];
  const float high = sums[1] + sums[3];
  return low + high;
}

}  // namespace gdn::GDN_GPU_NAMESPACE
