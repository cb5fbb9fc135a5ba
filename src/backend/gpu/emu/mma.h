// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of ../mma.h on the emulation: mma.sync with warps of 32, MFMA with warps
// of
// 64. Each lane gives its registers to the others, who add products with the index ascending,
// fused.
#pragma once

#include "backend/gpu/port.h"

#if GDN_GPU_WARP == 32
#define GDN_GPU_MMA_SYNC 1
#define GDN_GPU_TF32 1
#else
#define GDN_GPU_MFMA 1
#endif

namespace gdn::GDN_GPU_NAMESPACE {

inline float Bf16Half(uint32_t pair, uint32_t half) {
  return FloatOf(half == 0 ? pair << 16 : pair & 0xFFFF0000U);
}
inline float F16Half(uint32_t pair, uint32_t half) {
  const uint32_t bits = half == 0 ? pair & 0xFFFFU : pair >> 16;
  const uint32_t magnitude = bits & 0x7FFFU;
  const uint32_t normal = (magnitude << 13) + (magnitude >= 0x7C00 ? 0x70000000U : 0x38000000U);
  const uint32_t subnormal = BitsOf(static_cast<float>(magnitude) * 5.9604644775390625e-8F);
  return FloatOf((bits & 0x8000U) << 16 | (magnitude < 0x400 ? subnormal : normal));
}

#if GDN_GPU_WARP == 32
struct MmaRegisters {
  uint32_t a[4];
  uint32_t b[2];
};

// c, of 16 rows and 8 columns, += a b^T over kDepth; At(pair of registers, half) is an element.
template <float (*kAt)(uint32_t, uint32_t)>
void MmaSync(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], Where where) {
  const MmaRegisters own = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
  const emu::Exchange lanes(&own, sizeof own, where);
  const uint32_t lane = ThreadIndex() % 32;
  for (uint32_t e = 0; e < 4; ++e) {
    const uint32_t row_lane = lane / 4 * 4;
    const uint32_t column_lane = (lane % 4 * 2 + e % 2) * 4;
    for (uint32_t m = 0; m < 16; ++m) {
      const uint32_t quarter = m % 8 / 2;
      const auto& left = *static_cast<const MmaRegisters*>(lanes.Of(row_lane + quarter));
      const auto& right = *static_cast<const MmaRegisters*>(lanes.Of(column_lane + quarter));
      c[e] = Fma(kAt(left.a[m / 8 * 2 + e / 2], m % 2), kAt(right.b[m / 8], m % 2), c[e]);
    }
  }
}
inline void MmaBf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                    Where where = Where::current()) {
  MmaSync<Bf16Half>(c, a, b, where);
}
inline void MmaF16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                   Where where = Where::current()) {
  MmaSync<F16Half>(c, a, b, where);
}
inline void MmaTf32(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                    Where where = Where::current()) {
  const MmaRegisters own = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
  const emu::Exchange lanes(&own, sizeof own, where);
  const uint32_t lane = ThreadIndex() % 32;
  for (uint32_t e = 0; e < 4; ++e) {
    const uint32_t row_lane = lane / 4 * 4;
    const uint32_t column_lane = (lane % 4 * 2 + e % 2) * 4;
    for (uint32_t m = 0; m < 8; ++m) {
      const auto& left = *static_cast<const MmaRegisters*>(lanes.Of(row_lane + m % 4));
      const auto& right = *static_cast<const MmaRegisters*>(lanes.Of(column_lane + m % 4));
      const float x = FloatOf(left.a[m / 4 * 2 + e / 2] & 0xFFFFE000U);
      c[e] = Fma(x, FloatOf(right.b[m / 4] & 0xFFFFE000U), c[e]);
    }
  }
}
#else
struct MfmaRegisters {
  uint32_t a[2];
  uint32_t b[2];
};

template <float (*kAt)(uint32_t, uint32_t)>
void Mfma(float (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2], Where where) {
  const MfmaRegisters own = {{a[0], a[1]}, {b[0], b[1]}};
  const emu::Exchange lanes(&own, sizeof own, where);
  const uint32_t lane = ThreadIndex() % 64;
  for (uint32_t e = 0; e < 4; ++e) {
    for (uint32_t m = 0; m < 16; ++m) {
      const uint32_t group = m / 4 * 16;
      const auto& left = *static_cast<const MfmaRegisters*>(lanes.Of(group + lane / 16 * 4 + e));
      const auto& right = *static_cast<const MfmaRegisters*>(lanes.Of(group + lane % 16));
      c[e] = Fma(kAt(left.a[m % 4 / 2], m % 2), kAt(right.b[m % 4 / 2], m % 2), c[e]);
    }
  }
}
inline void MfmaBf16(float (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2],
                     Where where = Where::current()) {
  Mfma<Bf16Half>(c, a, b, where);
}
inline void MfmaF16(float (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2],
                    Where where = Where::current()) {
  Mfma<F16Half>(c, a, b, where);
}
#endif

}  // namespace gdn::GDN_GPU_NAMESPACE
