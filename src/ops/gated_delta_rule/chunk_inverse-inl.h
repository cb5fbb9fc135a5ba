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

constexpr size_t kBlockLanes = hn::MaxLanes(DBlock());
constexpr size_t kBlockVecs = kBlock / kBlockLanes;
// Rows at a time that make eight chains of fma.
constexpr size_t kBlockRows = HWY_MAX(size_t{1}, 8 / kBlockVecs);

// out [16, 16] = x y, or out += x y with the product summed on its own first.
template <bool kAdd>
HWY_INLINE void BlockProduct(const float* HWY_RESTRICT x, size_t x_stride,
                             const float* HWY_RESTRICT y, size_t y_stride,
                             float* HWY_RESTRICT out) {
  const DBlock d;
  for (size_t i = 0; i < kBlock; i += kBlockRows) {
    VBlock sum[kBlockRows][kBlockVecs];
    HWY_UNROLL(8)
    for (auto& row : sum) {
      HWY_UNROLL(8)
      for (VBlock& chain : row) chain = hn::Zero(d);
    }
    for (size_t m = 0; m < kBlock; ++m) {
      VBlock y_vec[kBlockVecs];
      HWY_UNROLL(8)
      for (size_t c = 0; c < kBlockVecs; ++c) {
        y_vec[c] = hn::LoadU(d, y + m * y_stride + c * kBlockLanes);
      }
      HWY_UNROLL(8)
      for (size_t r = 0; r < kBlockRows; ++r) {
        const VBlock x_vec = hn::Set(d, x[(i + r) * x_stride + m]);
        HWY_UNROLL(8)
        for (size_t c = 0; c < kBlockVecs; ++c) {
          sum[r][c] = hn::MulAdd(x_vec, y_vec[c], sum[r][c]);
        }
      }
    }
    HWY_UNROLL(8)
    for (size_t r = 0; r < kBlockRows; ++r) {
      HWY_UNROLL(8)
      for (size_t c = 0; c < kBlockVecs; ++c) {
        float* p = out + (i + r) * kBlock + c * kBlockLanes;
        hn::StoreU(kAdd ? hn::Add(hn::LoadU(d, p), sum[r][c]) : sum[r][c], d, p);
      }
    }
  }
}

// Forward substitution of the diagonal blocks, kCount of them at once: the chains of one alone
// would wait for each other. a and x point to the first; stride kInverseStride. The identity is
// added last, for the substitution must not see it: the diagonal term is the -a_row[c] of the
// formula.
template <size_t kCount>
HWY_INLINE void InvertDiagonals(const float* HWY_RESTRICT a, float* HWY_RESTRICT x) {
  const DBlock d;
  constexpr size_t kNext = kBlock * kInverseStride + kBlock;  // to the next diagonal block
  for (size_t i = 0; i < kBlock; ++i) {
    VBlock sum[kCount][kBlockVecs];
    HWY_UNROLL(4)
    for (auto& row : sum) {
      HWY_UNROLL(8)
      for (VBlock& chain : row) chain = hn::Zero(d);
    }
    for (size_t m = 0; m < i; ++m) {
      HWY_UNROLL(4)
      for (size_t b = 0; b < kCount; ++b) {
        const VBlock minus_a = hn::Set(d, -a[b * kNext + i * kInverseStride + m]);
        HWY_UNROLL(8)
        for (size_t c = 0; c < kBlockVecs; ++c) {
          const float* above = x + b * kNext + m * kInverseStride + c * kBlockLanes;
          sum[b][c] = hn::MulAdd(minus_a, hn::LoadU(d, above), sum[b][c]);
        }
      }
    }
    const auto row = hn::Set(d, static_cast<float>(i));
    HWY_UNROLL(4)
    for (size_t b = 0; b < kCount; ++b) {
      HWY_UNROLL(8)
      for (size_t c = 0; c < kBlockVecs; ++c) {
        const size_t at = b * kNext + i * kInverseStride + c * kBlockLanes;
        const auto lower = hn::Lt(hn::Iota(d, static_cast<float>(c * kBlockLanes)), row);
        const VBlock minus_a = hn::IfThenElseZero(lower, hn::Neg(hn::LoadU(d, a + at)));
        hn::StoreU(hn::Add(minus_a, sum[b][c]), d, x + at);
      }
    }
  }
  for (size_t b = 0; b < kCount; ++b) {
    for (size_t i = 0; i < kBlock; ++i) x[b * kNext + i * kInverseStride + i] = 1;
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
  if (num_blocks == 4) {
    InvertDiagonals<4>(a, x);
  } else {
    for (size_t i = 0; i < num_blocks; ++i) InvertDiagonals<1>(a + at(i, i), x + at(i, i));
  }
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
