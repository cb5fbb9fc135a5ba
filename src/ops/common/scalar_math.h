// SPDX-License-Identifier: Apache-2.0
// exp and log of f32 to about 1 ulp from additions, products and one quotient, none of them fused:
// their bits are the same on every device that rounds these as IEEE 754 does. ExpVec (simd-inl.h)
// and numerics.glsl have the same steps; a change here is a change there.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace gdn {

// e^x = 2^n e^r with n ln2 taken off in two steps, the first product exact, |r| <= ln2 / 2, by the
// Taylor polynomial of degree 7. 2^n is two factors, so that subnormal results are reached.
inline float ExpF32(float x) {
  if (std::isnan(x)) return x;
  if (x > 88.72284F) return INFINITY;
  if (x < -103.97208F) return 0;
  const float n = std::nearbyint(x * 1.44269504F);
  const float high = x - n * 0.693359375F;
  const float r = high + n * 2.12194440e-4F;
  float p = 1.9841270e-4F;
  for (const float c :
       {1.3888889e-3F, 8.3333333e-3F, 4.1666667e-2F, 1.6666667e-1F, 0.5F, 1.0F, 1.0F}) {
    p = p * r + c;
  }
  const auto whole = static_cast<int32_t>(n);
  const int32_t first = whole / 2;
  const auto power = [](int32_t e) {
    return std::bit_cast<float>(static_cast<uint32_t>(e + 127) << 23);
  };
  return p * power(first) * power(whole - first);
}

// ln x for x >= 1. With x = 2^n (1 + f), 1 + f from sqrt(1/2) on, and s = f / (2 + f):
// ln(1 + f) = 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + 2 s^2 / 3 + 2 s^4 / 5 + ..).
inline float LogF32(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (bits >= 0x7F800000U) return x;
  constexpr uint32_t kRootHalf = 0x3F3504F3;
  const uint32_t above = bits - kRootHalf;
  const auto n = static_cast<float>(static_cast<int32_t>(above) >> 23);
  const float f = std::bit_cast<float>((above & 0x7FFFFF) + kRootHalf) - 1.0F;
  const float s = f / (2.0F + f);
  const float z = s * s;
  float series = 0.18181819F;
  for (const float c : {0.22222222F, 0.2857143F, 0.4F, 0.6666667F}) series = series * z + c;
  const float half_square = 0.5F * f * f;
  const float rest = s * (half_square + series * z) + n * -2.12194440e-4F;
  return n * 0.693359375F + (f - (half_square - rest));
}

inline float SigmoidF32(float x) { return 1.0F / (1.0F + ExpF32(-x)); }
inline float SiluF32(float x) { return x / (1.0F + ExpF32(-x)); }

}  // namespace gdn
