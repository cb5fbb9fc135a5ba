// SPDX-License-Identifier: Apache-2.0
// SumOfSquares of row_sum.h in vectors, with its bits. Included once per target.

#if defined(GDN_OPS_COMMON_ROW_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_COMMON_ROW_SUM_INL_H_
#undef GDN_OPS_COMMON_ROW_SUM_INL_H_
#else
#define GDN_OPS_COMMON_ROW_SUM_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>

#include "ops/common/row_sum.h"
#include "ops/common/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// load(i, count) gives the elements [i, i + count) with zeros behind them, count <= Lanes; a
// callable with HWY_INLINE.
template <class Load>
HWY_INLINE float SumOfSquaresVec(size_t n, const Load& load) {
  const DF df;
  constexpr size_t kLanes = hn::MaxLanes(df);
  static_assert(kLanes <= kSumLanes);
  constexpr size_t kVecs = kSumLanes / kLanes;
  std::array<VF, kVecs> sums;
  sums.fill(hn::Zero(df));
  size_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    for (size_t j = 0; j < kVecs; ++j) {
      const VF x = load(i + j * kLanes, kLanes);
      sums[j] = hn::Add(sums[j], hn::Mul(x, x));
    }
  }
  for (size_t j = 0; i < n; ++j, i += kLanes) {
    const VF x = load(i, std::min(kLanes, n - i));
    sums[j] = hn::Add(sums[j], hn::Mul(x, x));
  }
  std::array<float, kSumLanes> partial;
  for (size_t j = 0; j < kVecs; ++j) StoreVec(sums[j], partial.data() + j * kLanes);
  return AddPartialSums(partial);
}

// The elements of a row.
template <class T>
struct LoadRow {
  const T* row;

  HWY_INLINE VF operator()(size_t i, size_t count) const { return LoadVecAny(row + i, count); }
};

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_COMMON_ROW_SUM_INL_H_
