// SPDX-License-Identifier: Apache-2.0
// The two 16-bit float formats as storage types, and their conversions to and from f32.
// Rounding is to nearest, ties to even, in integer arithmetic: the same bits on every machine,
// denormals kept (the hardware's bf16 conversion flushes them).
#pragma once

#include <bit>
#include <cstdint>

namespace gdn {

struct Bf16 {
  uint16_t bits;
};

struct F16 {
  uint16_t bits;
};

inline float ToF32(float x) { return x; }
inline float ToF32(Bf16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }

inline float ToF32(F16 x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000) << 16;
  const uint32_t exponent = (x.bits >> 10) & 0x1F;
  const uint32_t mantissa = x.bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000 | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Zero or denormal: mantissa * 2^-24 is exact in f32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

template <class To>
To FromF32(float x);

template <>
inline float FromF32<float>(float x) {
  return x;
}

template <>
inline Bf16 FromF32<Bf16>(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7FFFFFFF) > 0x7F800000) {  // NaN: keep the sign, make it quiet
    return {static_cast<uint16_t>((bits >> 16) | 0x40)};
  }
  return {static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)};
}

template <>
inline F16 FromF32<F16>(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return {static_cast<uint16_t>(sign | 0x7E00)};
  if (magnitude >= 0x477FF000) return {static_cast<uint16_t>(sign | 0x7C00)};  // >= 65520
  if (magnitude <
      0x38800000) {  // below 2^-14: adding 1/2 leaves the rounded denormal in the low bits
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000))};
  }
  const uint32_t rounded = magnitude + 0xFFF + ((magnitude >> 13) & 1);
  return {static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13))};
}

// x rounded to the precision of T, as f32: a rounding point of the numerics.
template <class T>
float RoundTo(float x) {
  return ToF32(FromF32<T>(x));
}

}  // namespace gdn
