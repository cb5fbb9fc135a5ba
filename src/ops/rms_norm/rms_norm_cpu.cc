// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rms_norm/rms_norm_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/row_sum-inl.h"
#include "ops/common/rows.h"
#include "ops/rms_norm/rms_norm_kernels.h"

#if HWY_ONCE
#include <cmath>
#endif

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// s, computed again in each pass: an f16 sum is normalised before it is rounded, so the stored one
// would not do.
template <class T>
struct LoadSum {
  const T* x;
  const T* residual;

  HWY_INLINE VF operator()(size_t i, size_t count) const {
    const VF x_i = LoadVecAny(x + i, count);
    if (residual == nullptr) return x_i;
    const VF sum = hn::Add(x_i, LoadVecAny(residual + i, count));
    return std::is_same_v<T, F16> ? sum : RoundVec<T>(sum);
  }
};

template <class T, RmsNormStyle style>
struct Scale {
  const float* w;
  float inverse;

  HWY_INLINE VF operator()(VF s, size_t i, size_t count) const {
    const VF y = hn::Mul(s, hn::Set(DF(), inverse));
    const VF w_i = LoadVecAny(w + i, count);
    if constexpr (style == RmsNormStyle::kGemma) {
      return hn::Mul(y, hn::Add(hn::Set(DF(), 1.0F), w_i));
    } else {
      return hn::Mul(RoundVec<T>(y), w_i);
    }
  }
};

template <class T, RmsNormStyle style>
void NormRow(const RmsNormArgs& args, int64_t row) {
  const auto n = static_cast<size_t>(args.x.dim(1));
  T* residual = args.residual.empty() ? nullptr : args.residual.Row<T>(row);
  T* out = args.out.Row<T>(row);
  const LoadSum<T> sum{args.x.Row<T>(row), residual};
  const float mean = SumOfSquaresVec(n, sum) / static_cast<float>(n);
  const Scale<T, style> scale{args.weight.As<float>(), 1.0F / std::sqrt(mean + args.eps)};

  const auto step = [&](size_t i, size_t count) HWY_ATTR {
    const VF s = sum(i, count);
    if (residual != nullptr) StoreVecAny(s, residual + i, count);
    StoreVecAny(scale(s, i, count), out + i, count);
  };
  ForEachVec(n, step);
}

void RmsNormRows(const RmsNormArgs& args, int64_t first, int64_t last) {
  DispatchFloat(args.x.dtype, [&]<class T>(T) HWY_ATTR {
    for (int64_t row = first; row < last; ++row) {
      if (args.style == RmsNormStyle::kGemma) {
        NormRow<T, RmsNormStyle::kGemma>(args, row);
      } else {
        NormRow<T, RmsNormStyle::kPlain>(args, row);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {

HWY_EXPORT(RmsNormRows);

void RmsNormCpu(const ExecContext& ctx, const RmsNormArgs& args) {
  ParallelRows(ctx, args.x.dim(0), args.x.dim(1), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(RmsNormRows)(args, first, last);
  });
}

}  // namespace gdn
#endif  // HWY_ONCE
