// SPDX-License-Identifier: Apache-2.0
// The matrix cores of AMD devices as ../mma.h wants them: MFMA on CDNA, WMMA on RDNA3, none
// elsewhere. Where the elements lie: AMD's matrix instruction calculator.
#pragma once

#include "backend/gpu/port.h"

namespace gdn::gpu_rocm {

#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
#define GDN_GPU_MFMA 1
#elif defined(__gfx1100__) || defined(__gfx1101__) || defined(__gfx1102__)
#if __clang_major__ >= 16  // 15 corrupts its own memory over these instructions
#define GDN_GPU_WMMA 1
#endif
#endif

#ifdef GDN_GPU_MFMA
using Short4 = __attribute__((ext_vector_type(4))) short;
using Half4 = __attribute__((ext_vector_type(4))) _Float16;
using Float4 = __attribute__((ext_vector_type(4))) float;

GDN_DEVICE void MfmaBf16(float (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2]) {
  Float4 sum = {c[0], c[1], c[2], c[3]};
  sum = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(Short4, a),
                                                  __builtin_bit_cast(Short4, b), sum, 0, 0, 0);
  GDN_UNROLL for (int i = 0; i < 4; ++i) c[i] = sum[i];
}
GDN_DEVICE void MfmaF16(float (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2]) {
  Float4 sum = {c[0], c[1], c[2], c[3]};
  sum = __builtin_amdgcn_mfma_f32_16x16x16f16(__builtin_bit_cast(Half4, a),
                                              __builtin_bit_cast(Half4, b), sum, 0, 0, 0);
  GDN_UNROLL for (int i = 0; i < 4; ++i) c[i] = sum[i];
}
#endif

#ifdef GDN_GPU_WMMA
using Short16 = __attribute__((ext_vector_type(16))) short;
using Half16 = __attribute__((ext_vector_type(16))) _Float16;
using Float8 = __attribute__((ext_vector_type(8))) float;

GDN_DEVICE void WmmaBf16(float (&c)[8], const uint32_t (&a)[8], const uint32_t (&b)[8]) {
  Float8 sum = {c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]};
  sum = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(__builtin_bit_cast(Short16, a),
                                                    __builtin_bit_cast(Short16, b), sum);
  GDN_UNROLL for (int i = 0; i < 8; ++i) c[i] = sum[i];
}
GDN_DEVICE void WmmaF16(float (&c)[8], const uint32_t (&a)[8], const uint32_t (&b)[8]) {
  Float8 sum = {c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]};
  sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(__builtin_bit_cast(Half16, a),
                                                   __builtin_bit_cast(Half16, b), sum);
  GDN_UNROLL for (int i = 0; i < 8; ++i) c[i] = sum[i];
}
#endif

}  // namespace gdn::gpu_rocm
