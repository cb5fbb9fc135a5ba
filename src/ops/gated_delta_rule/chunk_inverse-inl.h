// SPDX-License-Identifier: Apache-2.0
// solve_tril of the chunk kernel: (I + A)^-1 from 16 x 16 blocks, in f32.

#if defined(GDN_OPS_CHUNK_INVERSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_CHUNK_INVERSE_INL_H_
#undef GDN_OPS_CHUNK_INVERSE_INL_H_
#else
#define GDN_OPS_CHUNK_INVERSE_INL_H_
#endif

#include <array>

#include "ops/common/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

constexpr size_t kBlock = 16;
constexpr size_t kInverseStride = 64;  // of A and of the inverse
using DBlock = hn::CappedTag<float, kBlock>;
using VBlock = hn::Vec<DBlock>;
using BlockBuffer = std::array<float, kBlock * kBlock>;

// out [16, 16] = x y, or out += x y with the product summed on its own first. Four rows at a time
// so that four chains of fma are in flight.
template <bool kAdd>
HWY_INLINE void BlockProduct(const float* HWY_RESTRICT x, size_t x_stride,
                             const float* HWY_RESTRICT y, size_t y_stride,
                             float* HWY_RESTRICT out) {
  const DBlock d;
  for (size_t c = 0; c < kBlock; c += hn::Lanes(d)) {
    for (size_t i = 0; i < kBlock; i += 4) {
      VBlock sum0 = hn::Zero(d);
      VBlock sum1 = sum0;
      VBlock sum2 = sum0;
      VBlock sum3 = sum0;
      const float* x_row = x + i * x_stride;
      for (size_t m = 0; m < kBlock; ++m) {
        const VBlock y_vec = hn::LoadU(d, y + m * y_stride + c);
        sum0 = hn::MulAdd(hn::Set(d, x_row[m]), y_vec, sum0);
        sum1 = hn::MulAdd(hn::Set(d, x_row[x_stride + m]), y_vec, sum1);
        sum2 = hn::MulAdd(hn::Set(d, x_row[2 * x_stride + m]), y_vec, sum2);
        sum3 = hn::MulAdd(hn::Set(d, x_row[3 * x_stride + m]), y_vec, sum3);
      }
      const auto store = [&](size_t row, VBlock sum) HWY_ATTR {
        float* p = out + (i + row) * kBlock + c;
        hn::StoreU(kAdd ? hn::Add(hn::LoadU(d, p), sum) : sum, d, p);
      };
      store(0, sum0);
      store(1, sum1);
      store(2, sum2);
      store(3, sum3);
    }
  }
}

// Forward substitution of one diagonal block; a and x have stride kInverseStride.
HWY_INLINE void InvertDiagonal(const float* HWY_RESTRICT a, float* HWY_RESTRICT x) {
  const DBlock d;
  for (size_t i = 0; i < kBlock; ++i) {
    const float* a_row = a + i * kInverseStride;
    float* x_row = x + i * kInverseStride;
    for (size_t c = 0; c < kBlock; c += hn::Lanes(d)) {
      // The rows above already carry the identity, which the substitution must not see twice: its
      // diagonal term is the -a_row[c] of the formula.
      VBlock sum = hn::Zero(d);
      for (size_t m = 0; m < i; ++m) {
        const VBlock strict = hn::IfThenElseZero(
            hn::Lt(hn::Iota(d, static_cast<float>(c)), hn::Set(d, static_cast<float>(m))),
            hn::LoadU(d, x + m * kInverseStride + c));
        sum = hn::MulAdd(hn::Set(d, -a_row[m]), strict, sum);
      }
      const auto column = hn::Iota(d, static_cast<float>(c));
      const auto row = hn::Set(d, static_cast<float>(i));
      const VBlock minus_a =
          hn::IfThenElseZero(hn::Lt(column, row), hn::Neg(hn::LoadU(d, a_row + c)));
      const VBlock one = hn::IfThenElseZero(hn::Eq(column, row), hn::Set(d, 1.0F));
      hn::StoreU(hn::Add(hn::Add(minus_a, sum), one), d, x_row + c);
    }
  }
}

// Rows and columns [0, 16 * num_blocks) of x = (I + A)^-1. A: the strictly lower part is read. The
// block formulas and their order are the reference's (README.md, solve_tril).
inline HWY_NOINLINE void InvertUnitLower(const float* HWY_RESTRICT a, float* HWY_RESTRICT x,
                                         size_t num_blocks) {
  const DBlock d;
  const auto at = [](size_t i, size_t j) { return (i * kInverseStride + j) * kBlock; };
  HWY_ALIGN BlockBuffer sum;
  HWY_ALIGN BlockBuffer product;
  for (size_t i = 0; i < num_blocks; ++i) InvertDiagonal(a + at(i, i), x + at(i, i));
  for (size_t distance = 1; distance < num_blocks; ++distance) {
    for (size_t j = 0; j + distance < num_blocks; ++j) {
      const size_t i = j + distance;
      if (distance == 1) {
        BlockProduct<false>(x + at(i, i), kInverseStride, a + at(i, j), kInverseStride, sum.data());
        BlockProduct<false>(sum.data(), kBlock, x + at(j, j), kInverseStride, product.data());
      } else {
        sum.fill(0);
        for (size_t m = j; m < i; ++m) {
          BlockProduct<true>(a + at(i, m), kInverseStride, x + at(m, j), kInverseStride,
                             sum.data());
        }
        BlockProduct<false>(x + at(i, i), kInverseStride, sum.data(), kBlock, product.data());
      }
      for (size_t row = 0; row < kBlock; ++row) {
        for (size_t c = 0; c < kBlock; c += hn::Lanes(d)) {
          hn::StoreU(hn::Neg(hn::LoadU(d, product.data() + row * kBlock + c)), d,
                     x + at(i, j) + row * kInverseStride + c);
        }
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_CHUNK_INVERSE_INL_H_
