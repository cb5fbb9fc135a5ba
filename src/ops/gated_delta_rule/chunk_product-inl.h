// SPDX-License-Identifier: Apache-2.0
// The one product of the chunk kernel: a tile of rows by two vectors of columns. Each element is a
// chain of fma over the depth in ascending order, so its bits depend neither on the vector width
// nor on the tile.

#if defined(GDN_OPS_CHUNK_PRODUCT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_CHUNK_PRODUCT_INL_H_
#undef GDN_OPS_CHUNK_PRODUCT_INL_H_
#else
#define GDN_OPS_CHUNK_PRODUCT_INL_H_
#endif

#include "ops/common/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// 8 rows need 16 accumulators, 2 columns and a broadcast: more than the 16 registers of SSE4 and
// AVX2, where 4 rows still give the 8 chains that two fma units of latency 4 want.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3 || \
    HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
constexpr size_t kTileRows = 4;
#else
constexpr size_t kTileRows = 8;
#endif

HWY_INLINE size_t TileColumns() { return 2 * hn::Lanes(DF()); }

// sum over m < depth of a[r * a_stride + m] * b[m * b_stride + c], given to
// finish(r, low columns, high columns) for r < kTileRows.
template <class Finish>
HWY_INLINE void ProductTile(const float* HWY_RESTRICT a, size_t a_stride,
                            const float* HWY_RESTRICT b, size_t b_stride, size_t depth,
                            const Finish& finish) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  VF lo0 = hn::Zero(d), lo1 = lo0, lo2 = lo0, lo3 = lo0;
  VF hi0 = lo0, hi1 = lo0, hi2 = lo0, hi3 = lo0;
  VF lo4 = lo0, lo5 = lo0, lo6 = lo0, lo7 = lo0;
  VF hi4 = lo0, hi5 = lo0, hi6 = lo0, hi7 = lo0;
  for (size_t m = 0; m < depth; ++m) {
    const VF b_lo = hn::LoadU(d, b + m * b_stride);
    const VF b_hi = hn::LoadU(d, b + m * b_stride + lanes);
    const auto row = [&](size_t r, VF& lo, VF& hi) HWY_ATTR {
      const VF x = hn::Set(d, a[r * a_stride + m]);
      lo = hn::MulAdd(x, b_lo, lo);
      hi = hn::MulAdd(x, b_hi, hi);
    };
    row(0, lo0, hi0);
    row(1, lo1, hi1);
    row(2, lo2, hi2);
    row(3, lo3, hi3);
    if constexpr (kTileRows == 8) {
      row(4, lo4, hi4);
      row(5, lo5, hi5);
      row(6, lo6, hi6);
      row(7, lo7, hi7);
    }
  }
  finish(0, lo0, hi0);
  finish(1, lo1, hi1);
  finish(2, lo2, hi2);
  finish(3, lo3, hi3);
  if constexpr (kTileRows == 8) {
    finish(4, lo4, hi4);
    finish(5, lo5, hi5);
    finish(6, lo6, hi6);
    finish(7, lo7, hi7);
  }
}

// Both vectors of a tile's row of f32 scratch.
HWY_INLINE void StoreTileRow(VF lo, VF hi, float* p) {
  hn::StoreU(lo, DF(), p);
  hn::StoreU(hi, DF(), p + hn::Lanes(DF()));
}

// Calls body(column offset, number of columns) for the two vectors of a tile that has `columns`
// valid ones.
template <class Body>
HWY_INLINE void ForEachTileVec(size_t columns, const Body& body) {
  const size_t lanes = hn::Lanes(DF());
  body(size_t{0}, HWY_MIN(columns, lanes));
  body(lanes, columns > lanes ? HWY_MIN(columns - lanes, lanes) : size_t{0});
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_CHUNK_PRODUCT_INL_H_
