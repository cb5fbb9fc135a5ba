// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rms_norm_gated/rms_norm_gated_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/row_sum-inl.h"
#include "ops/common/rows.h"
#include "ops/rms_norm_gated/rms_norm_gated_kernels.h"

#if HWY_ONCE
#include <cmath>
#endif

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

template <class T, GateActivation activation>
void NormRow(const RmsNormGatedArgs& args, int64_t row) {
  const auto n = static_cast<size_t>(args.x.dim(1));
  const LoadRow<T> x{args.x.Row<T>(row)};
  const LoadRow<T> gate{args.gate.Row<T>(row)};
  const LoadRow<float> w{args.weight.As<float>()};
  T* out = args.out.Row<T>(row);
  const float mean = SumOfSquaresVec(n, x) / static_cast<float>(n);
  const VF inverse = hn::Set(DF(), 1.0F / std::sqrt(mean + args.eps));

  const auto step = [&](size_t i, size_t count) HWY_ATTR {
    const VF z = gate(i, count);
    const VF act = activation == GateActivation::kSilu ? SiluVec(z) : SigmoidVec(z);
    const VF y = hn::Mul(hn::Mul(x(i, count), inverse), w(i, count));
    StoreVecAny(hn::Mul(y, act), out + i, count);
  };
  ForEachVec(n, step);
}

void RmsNormGatedRows(const RmsNormGatedArgs& args, int64_t first, int64_t last) {
  DispatchFloat(args.x.dtype, [&]<class T>(T) HWY_ATTR {
    for (int64_t row = first; row < last; ++row) {
      if (args.activation == GateActivation::kSilu) {
        NormRow<T, GateActivation::kSilu>(args, row);
      } else {
        NormRow<T, GateActivation::kSigmoid>(args, row);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {

HWY_EXPORT(RmsNormGatedRows);

void RmsNormGatedCpu(const ExecContext& ctx, const RmsNormGatedArgs& args) {
  ParallelRows(ctx, args.x.dim(0), args.x.dim(1), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(RmsNormGatedRows)(args, first, last);
  });
}

}  // namespace gdn
#endif  // HWY_ONCE
