// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of two matrices. Included once per target.

#if defined(GDN_OPS_COMMON_MAP_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_COMMON_MAP_ROWS_INL_H_
#undef GDN_OPS_COMMON_MAP_ROWS_INL_H_
#else
#define GDN_OPS_COMMON_MAP_ROWS_INL_H_
#endif

#include "ops/common/simd-inl.h"
#include "tensor/tensor.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// out = T(f(a, b)) over the rows [first, last); f is a callable of two vectors with HWY_INLINE.
template <class T, class F>
HWY_INLINE void MapRows(const ConstTensor& a, const ConstTensor& b, const Tensor& out,
                        int64_t first, int64_t last, const F& f) {
  const size_t lanes = hn::Lanes(DF());
  const auto n = static_cast<size_t>(a.dim(1));
  for (int64_t row = first; row < last; ++row) {
    const T* a_row = a.Row<T>(row);
    const T* b_row = b.Row<T>(row);
    T* out_row = out.Row<T>(row);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      StoreVec(f(LoadVec(a_row + i), LoadVec(b_row + i)), out_row + i);
    }
    if (i < n) {
      StoreVecN(f(LoadVecN(a_row + i, n - i), LoadVecN(b_row + i, n - i)), out_row + i, n - i);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_COMMON_MAP_ROWS_INL_H_
