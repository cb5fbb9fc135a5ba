// SPDX-License-Identifier: Apache-2.0
// What the Highway kernels share: f32 vectors in and out of f32, f16 and bf16 memory, rounding in
// integer arithmetic, exp. Included once per target, after hwy/highway.h.
//
// f16 and bf16 conversions have the bits of base/half.h on every target; nothing here depends on
// the vector width.

#if defined(GDN_OPS_COMMON_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_COMMON_SIMD_INL_H_
#undef GDN_OPS_COMMON_SIMD_INL_H_
#undef GDN_INLINE_LAMBDA
#else
#define GDN_OPS_COMMON_SIMD_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/half.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// For lambdas that take or capture vectors: a call would pass them through memory.
#define GDN_INLINE_LAMBDA HWY_ATTR __attribute__((always_inline))

using DF = hn::ScalableTag<float>;
using DU = hn::RebindToUnsigned<DF>;
using DU16 = hn::Rebind<uint16_t, DF>;
using VF = hn::Vec<DF>;
using VU = hn::Vec<DU>;

// ---- f32 <-> 16-bit values held in the low half of 32-bit lanes ----

HWY_INLINE VF WidenBf16(VU bits) { return hn::BitCast(DF(), hn::ShiftLeft<16>(bits)); }

// Bits of a bf16 in the HIGH half, the low half zero: the rounded value as an f32.
HWY_INLINE VF RoundBf16(VF x) {
  const DU du;
  const VU bits = hn::BitCast(du, x);
  const VU odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const VU rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF)));
  const VU quiet = hn::Or(bits, hn::Set(du, 0x00400000));
  const VU chosen = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), quiet, rounded);
  return hn::BitCast(DF(), hn::And(chosen, hn::Set(du, 0xFFFF0000)));
}

HWY_INLINE VF WidenF16(VU bits) {
  const DU du;
  const DF df;
  const VU sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000)));
  const VU magnitude = hn::And(bits, hn::Set(du, 0x7FFF));
  // Exponent and mantissa in place, then 2^112 brings the bias from 15 to 127; exact, denormals
  // too.
  const VF scaled = hn::Mul(hn::BitCast(df, hn::ShiftLeft<13>(magnitude)), hn::Set(df, 0x1p112F));
  const VU special = hn::Or(hn::ShiftLeft<13>(magnitude), hn::Set(du, 0x7F800000));
  const VU value =
      hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7BFF)), special, hn::BitCast(du, scaled));
  return hn::BitCast(df, hn::Or(value, sign));
}

HWY_INLINE VU NarrowF16(VF x) {
  const DU du;
  const DF df;
  const VU bits = hn::BitCast(du, x);
  const VU sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 0x8000));
  const VU magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFF));
  const VU odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1));
  const VU normal = hn::ShiftRight<13>(
      hn::Sub(hn::Add(magnitude, hn::Add(odd, hn::Set(du, 0xFFF))), hn::Set(du, 0x38000000)));
  // Below 2^-14 adding 1/2 leaves the rounded denormal in the low bits of the sum.
  const VU denormal =
      hn::Sub(hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5F))),
              hn::Set(du, 0x3F000000));
  VU value = hn::IfThenElse(hn::Lt(magnitude, hn::Set(du, 0x38800000)), denormal, normal);
  value = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x477FEFFF)), hn::Set(du, 0x7C00), value);
  value = hn::IfThenElse(hn::Gt(magnitude, hn::Set(du, 0x7F800000)), hn::Set(du, 0x7E00), value);
  return hn::Or(value, sign);
}

// ---- rounding points ----

template <class T>
HWY_INLINE VF RoundVec(VF x) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return RoundBf16(x);
  } else if constexpr (std::is_same_v<T, F16>) {
    return WidenF16(NarrowF16(x));
  } else {
    return x;
  }
}

// ---- memory: whole vectors ----

HWY_INLINE VF LoadVec(const float* p) { return hn::LoadU(DF(), p); }
HWY_INLINE VF LoadVec(const Bf16* p) {
  return WidenBf16(hn::PromoteTo(DU(), hn::LoadU(DU16(), reinterpret_cast<const uint16_t*>(p))));
}
HWY_INLINE VF LoadVec(const F16* p) {
  return WidenF16(hn::PromoteTo(DU(), hn::LoadU(DU16(), reinterpret_cast<const uint16_t*>(p))));
}

// Rounds to the type of the memory.
HWY_INLINE void StoreVec(VF x, float* p) { hn::StoreU(x, DF(), p); }
HWY_INLINE void StoreVec(VF x, Bf16* p) {
  const VU bits = hn::ShiftRight<16>(hn::BitCast(DU(), RoundBf16(x)));
  hn::StoreU(hn::TruncateTo(DU16(), bits), DU16(), reinterpret_cast<uint16_t*>(p));
}
HWY_INLINE void StoreVec(VF x, F16* p) {
  hn::StoreU(hn::TruncateTo(DU16(), NarrowF16(x)), DU16(), reinterpret_cast<uint16_t*>(p));
}

// ---- memory: the first n < Lanes elements; the other lanes are zero and not touched ----

template <class T>
HWY_INLINE VF LoadVecN(const T* p, size_t n) {
  HWY_ALIGN std::array<T, hn::MaxLanes(DF())> buffer{};
  std::memcpy(buffer.data(), p, n * sizeof(T));
  return LoadVec(buffer.data());
}

template <class T>
HWY_INLINE void StoreVecN(VF x, T* p, size_t n) {
  HWY_ALIGN std::array<T, hn::MaxLanes(DF())> buffer;
  StoreVec(x, buffer.data());
  std::memcpy(p, buffer.data(), n * sizeof(T));
}

// Calls body(offset, n) over [0, count) in vectors; n == Lanes but for the last.
template <class Body>
HWY_INLINE void ForEachVec(size_t count, const Body& body) {
  const size_t lanes = hn::Lanes(DF());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) body(i, lanes);
  if (i < count) body(i, count - i);
}

template <class T>
HWY_INLINE VF LoadVecAny(const T* p, size_t n) {
  return n == hn::Lanes(DF()) ? LoadVec(p) : LoadVecN(p, n);
}

template <class T>
HWY_INLINE void StoreVecAny(VF x, T* p, size_t n) {
  n == hn::Lanes(DF()) ? StoreVec(x, p) : StoreVecN(x, p, n);
}

// ---- exp ----

// The bits of ExpF32 (scalar_math.h), which explains the steps.
HWY_INLINE VF ExpVec(VF x) {
  const DF df;
  const hn::RebindToSigned<DF> di;
  const VF most = hn::Set(df, 88.72284F);
  const VF least = hn::Set(df, -103.97208F);
  const VF clamped = hn::Min(hn::Max(x, least), most);
  const VF n = hn::Round(hn::Mul(clamped, hn::Set(df, 1.44269504F)));
  const VF high = hn::Sub(clamped, hn::Mul(n, hn::Set(df, 0.693359375F)));
  const VF r = hn::Add(high, hn::Mul(n, hn::Set(df, 2.12194440e-4F)));
  VF p = hn::Set(df, 1.9841270e-4F);
  const auto step = [&](float c) HWY_ATTR { p = hn::Add(hn::Mul(p, r), hn::Set(df, c)); };
  step(1.3888889e-3F);
  step(8.3333333e-3F);
  step(4.1666667e-2F);
  step(1.6666667e-1F);
  step(0.5F);
  step(1.0F);
  step(1.0F);
  const auto whole = hn::ConvertTo(di, n);
  const auto first = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(di, 127);
  const VF s1 = hn::BitCast(df, hn::ShiftLeft<23>(hn::Add(first, bias)));
  const VF s2 = hn::BitCast(df, hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, first), bias)));
  VF result = hn::Mul(hn::Mul(p, s1), s2);
  result = hn::IfThenElse(hn::Gt(x, most), hn::Inf(df), result);
  result = hn::IfThenElse(hn::Lt(x, least), hn::Zero(df), result);
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

HWY_INLINE VF SigmoidVec(VF x) {
  const VF one = hn::Set(DF(), 1.0F);
  return hn::Div(one, hn::Add(one, ExpVec(hn::Neg(x))));
}

HWY_INLINE VF SiluVec(VF x) { return hn::Div(x, hn::Add(hn::Set(DF(), 1.0F), ExpVec(hn::Neg(x)))); }

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_COMMON_SIMD_INL_H_
