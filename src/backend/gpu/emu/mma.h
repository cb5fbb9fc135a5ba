// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of ../mma.h on the emulation: mma.sync with warps of 32, MFMA with warps
// of
// 64. Each lane gives its registers to the others, who add products with the index ascending,
// fused.
#pragma once

#include "backend/gpu/port.h"
#include "base/half.h"

#if GDN_GPU_WARP == 32
#define GDN_GPU_MMA_SYNC 1
#define GDN_GPU_TF32 1
#else
#define GDN_GPU_MFMA 1
#endif

namespace gdn::GDN_GPU_NAMESPACE {

// One of the two elements of a register.
template <class T>
float HalfAt(uint32_t pair, uint32_t half) {
  return gdn::ToF32(T{static_cast<uint16_t>(half == 0 ? pair : pair >> 16)});
}

// a b + c, rounded once: a product of elements of 16 bits, or of one with 11 and one with 8
// significant bits, is exact in f32, but for tiny ones.
inline float AddProduct(float a, float b, float c) {
  const float product = a * b;
  const bool is_exact = std::fabs(product) >= 1.2e-38F || a == 0 || b == 0;
  return is_exact ? c + product : Fma(a, b, c);
}

// c (16 rows of N columns) += a b^T, depth kDepth, of the registers of all lanes unpacked.
template <uint32_t kColumns, uint32_t kDepth>
void MultiplyUnpacked(const float (&a)[16][kDepth], const float (&b)[kDepth][kColumns],
                      float (&c)[16][kColumns]) {
  for (uint32_t i = 0; i < 16; ++i) {
    for (uint32_t m = 0; m < kDepth; ++m) {
      for (uint32_t j = 0; j < kColumns; ++j) c[i][j] = AddProduct(a[i][m], b[m][j], c[i][j]);
    }
  }
}

#if GDN_GPU_WARP == 32
struct MmaRegisters {
  uint32_t a[4];
  uint32_t b[2];
  float c[4];
};

// One mma.sync of the warp: kAt(register, half) is an element; a register holds kHalves.
template <uint32_t kHalves, float (*kAt)(uint32_t, uint32_t)>
void MmaTogether(std::byte* slots) {
  constexpr uint32_t kDepth = 8 * kHalves;
  float a[16][kDepth];
  float b[kDepth][8];
  float c[16][8];
  const auto lane_at = [&](uint32_t lane) {
    return reinterpret_cast<MmaRegisters*>(slots + size_t{lane} * emu::kExchangeBytes);
  };
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const MmaRegisters& own = *lane_at(lane);
    for (uint32_t half = 0; half < kHalves; ++half) {
      const uint32_t m = lane % 4 * kHalves + half;
      for (uint32_t r = 0; r < 4; ++r) {
        a[lane / 4 + r % 2 * 8][m + r / 2 * 4 * kHalves] = kAt(own.a[r], half);
      }
      for (uint32_t r = 0; r < 2; ++r) b[m + r * 4 * kHalves][lane / 4] = kAt(own.b[r], half);
    }
    for (uint32_t e = 0; e < 4; ++e) c[lane / 4 + e / 2 * 8][lane % 4 * 2 + e % 2] = own.c[e];
  }
  MultiplyUnpacked<8, kDepth>(a, b, c);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t e = 0; e < 4; ++e) {
      lane_at(lane)->c[e] = c[lane / 4 + e / 2 * 8][lane % 4 * 2 + e % 2];
    }
  }
}
inline void MmaSync(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                    void (*together)(std::byte*), Where where) {
  const MmaRegisters own = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}, {c[0], c[1], c[2], c[3]}};
  const emu::Exchange lanes(&own, sizeof own, where, together);
  const auto* result = static_cast<const MmaRegisters*>(lanes.Of(ThreadIndex() % 32));
  for (uint32_t e = 0; e < 4; ++e) c[e] = result->c[e];
}
inline void MmaBf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                    Where where = Where::Here()) {
  MmaSync(c, a, b, MmaTogether<2, HalfAt<gdn::Bf16>>, where);
}
inline void MmaF16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                   Where where = Where::Here()) {
  MmaSync(c, a, b, MmaTogether<2, HalfAt<gdn::F16>>, where);
}
inline float Tf32At(uint32_t bits, uint32_t /*half*/) { return FloatOf(bits & 0xFFFFE000U); }
inline void MmaTf32(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2],
                    Where where = Where::Here()) {
  MmaSync(c, a, b, MmaTogether<1, Tf32At>, where);
}
#else
struct MfmaRegisters {
  uint32_t a[2];
  uint32_t b[2];
  float c[4];
};

template <float (*kAt)(uint32_t, uint32_t)>
void MfmaTogether(std::byte* slots) {
  float a[16][16];
  float b[16][16];
  float c[16][16];
  const auto lane_at = [&](uint32_t lane) {
    return reinterpret_cast<MfmaRegisters*>(slots + size_t{lane} * emu::kExchangeBytes);
  };
  for (uint32_t lane = 0; lane < 64; ++lane) {
    const MfmaRegisters& own = *lane_at(lane);
    for (uint32_t i = 0; i < 4; ++i) {
      const uint32_t m = lane / 16 * 4 + i;
      a[lane % 16][m] = kAt(own.a[i / 2], i % 2);
      b[m][lane % 16] = kAt(own.b[i / 2], i % 2);
      c[m][lane % 16] = own.c[i];
    }
  }
  MultiplyUnpacked<16, 16>(a, b, c);
  for (uint32_t lane = 0; lane < 64; ++lane) {
    for (uint32_t i = 0; i < 4; ++i) lane_at(lane)->c[i] = c[lane / 16 * 4 + i][lane % 16];
  }
}
inline void Mfma(float (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2],
                 void (*together)(std::byte*), Where where) {
  const MfmaRegisters own = {{a[0], a[1]}, {b[0], b[1]}, {c[0], c[1], c[2], c[3]}};
  const emu::Exchange lanes(&own, sizeof own, where, together);
  const auto* result = static_cast<const MfmaRegisters*>(lanes.Of(ThreadIndex() % 64));
  for (uint32_t e = 0; e < 4; ++e) c[e] = result->c[e];
}
inline void MfmaBf16(float (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2],
                     Where where = Where::Here()) {
  Mfma(c, a, b, MfmaTogether<HalfAt<gdn::Bf16>>, where);
}
inline void MfmaF16(float (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2],
                    Where where = Where::Here()) {
  Mfma(c, a, b, MfmaTogether<HalfAt<gdn::F16>>, where);
}
#endif

}  // namespace gdn::GDN_GPU_NAMESPACE
