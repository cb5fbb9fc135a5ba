// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/common/row_sum.h"
#include "ops/rms_norm/rms_norm_kernels.h"

namespace gdn {
namespace {

template <class T>
void NormRow(const RmsNormArgs& args, int64_t row) {
  const auto n = static_cast<size_t>(args.x.dim(1));
  const T* x = args.x.Row<T>(row);
  const float* w = args.weight.As<float>();
  T* residual = args.residual.empty() ? nullptr : args.residual.Row<T>(row);
  T* out = args.out.Row<T>(row);

  const auto s = [&](size_t i) {
    if (residual == nullptr) return ToF32(x[i]);
    const float sum = ToF32(x[i]) + ToF32(residual[i]);
    return std::is_same_v<T, F16> ? sum : RoundTo<T>(sum);
  };
  const float mean = SumOfSquares(n, s) / static_cast<float>(n);
  const float inverse = 1.0F / std::sqrt(mean + args.eps);
  for (size_t i = 0; i < n; ++i) {
    const float s_i = s(i);
    const float y = s_i * inverse;
    if (residual != nullptr) residual[i] = FromF32<T>(s_i);
    out[i] =
        FromF32<T>(args.style == RmsNormStyle::kGemma ? y * (1.0F + w[i]) : RoundTo<T>(y) * w[i]);
  }
}

}  // namespace

void RmsNormRef(const ExecContext& /*ctx*/, const RmsNormArgs& args) {
  DispatchFloat(args.x.dtype, [&]<class T>(T) {
    for (int64_t row = 0; row < args.x.dim(0); ++row) NormRow<T>(args, row);
  });
}

}  // namespace gdn
