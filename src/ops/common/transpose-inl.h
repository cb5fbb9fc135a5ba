// SPDX-License-Identifier: Apache-2.0
// Transposition of f32 matrices. Included once per target.

#if defined(GDN_OPS_COMMON_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_COMMON_TRANSPOSE_INL_H_
#undef GDN_OPS_COMMON_TRANSPOSE_INL_H_
#else
#define GDN_OPS_COMMON_TRANSPOSE_INL_H_
#endif

#include <cstddef>

#include "ops/common/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// Two rows of in, side by side in out.
HWY_INLINE void TransposePair(const float* HWY_RESTRICT in, size_t in_stride, size_t columns,
                              float* HWY_RESTRICT out, size_t out_stride) {
  const hn::FixedTag<float, 4> d;
  const hn::Half<decltype(d)> half;
  size_t j = 0;
  for (; j + 4 <= columns; j += 4) {
    const auto r0 = hn::LoadU(d, in + j);
    const auto r1 = hn::LoadU(d, in + in_stride + j);
    const auto low = hn::InterleaveLower(d, r0, r1);
    const auto high = hn::InterleaveUpper(d, r0, r1);
    float* to = out + j * out_stride;
    hn::StoreU(hn::LowerHalf(half, low), half, to);
    hn::StoreU(hn::UpperHalf(half, low), half, to + out_stride);
    hn::StoreU(hn::LowerHalf(half, high), half, to + 2 * out_stride);
    hn::StoreU(hn::UpperHalf(half, high), half, to + 3 * out_stride);
  }
  for (; j < columns; ++j) {
    out[j * out_stride] = in[j];
    out[j * out_stride + 1] = in[in_stride + j];
  }
}

// out[j * out_stride + i] = in[i * in_stride + j] for i < rows, j < columns.
HWY_INLINE void Transpose(const float* HWY_RESTRICT in, size_t in_stride, size_t rows,
                          size_t columns, float* HWY_RESTRICT out, size_t out_stride) {
  const hn::FixedTag<float, 4> d;
  const size_t whole_rows = rows / 4 * 4;
  const size_t whole_columns = columns / 4 * 4;
  for (size_t i = 0; i < whole_rows; i += 4) {
    for (size_t j = 0; j < whole_columns; j += 4) {
      const float* from = in + i * in_stride + j;
      const auto r0 = hn::LoadU(d, from);
      const auto r1 = hn::LoadU(d, from + in_stride);
      const auto r2 = hn::LoadU(d, from + 2 * in_stride);
      const auto r3 = hn::LoadU(d, from + 3 * in_stride);
      const auto low01 = hn::InterleaveLower(d, r0, r1);
      const auto low23 = hn::InterleaveLower(d, r2, r3);
      const auto high01 = hn::InterleaveUpper(d, r0, r1);
      const auto high23 = hn::InterleaveUpper(d, r2, r3);
      float* to = out + j * out_stride + i;
      hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, to);
      hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, to + out_stride);
      hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, to + 2 * out_stride);
      hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * out_stride);
    }
    for (size_t j = whole_columns; j < columns; ++j) {
      for (size_t r = i; r < i + 4; ++r) out[j * out_stride + r] = in[r * in_stride + j];
    }
  }
  size_t i = whole_rows;
  for (; i + 2 <= rows; i += 2) {
    TransposePair(in + i * in_stride, in_stride, columns, out + i, out_stride);
  }
  for (; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) out[j * out_stride + i] = in[i * in_stride + j];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_COMMON_TRANSPOSE_INL_H_
