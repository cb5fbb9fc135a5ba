// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/common/row_sum.h"
#include "ops/common/scalar_math.h"
#include "ops/rms_norm_gated/rms_norm_gated_kernels.h"

namespace gdn {
namespace {

template <class T>
void NormRow(const RmsNormGatedArgs& args, int64_t row) {
  const auto n = static_cast<size_t>(args.x.dim(1));
  const T* x = args.x.Row<T>(row);
  const T* gate = args.gate.Row<T>(row);
  const float* w = args.weight.As<float>();
  T* out = args.out.Row<T>(row);

  const float mean = SumOfSquares(n, [&](size_t i) { return ToF32(x[i]); }) / static_cast<float>(n);
  const float inverse = 1.0F / std::sqrt(mean + args.eps);
  for (size_t i = 0; i < n; ++i) {
    const float z = ToF32(gate[i]);
    const float act = args.activation == GateActivation::kSilu ? SiluF32(z) : SigmoidF32(z);
    out[i] = FromF32<T>(ToF32(x[i]) * inverse * w[i] * act);
  }
}

}  // namespace

void RmsNormGatedRef(const ExecContext& /*ctx*/, const RmsNormGatedArgs& args) {
  DispatchFloat(args.x.dtype, [&]<class T>(T) {
    for (int64_t row = 0; row < args.x.dim(0); ++row) NormRow<T>(args, row);
  });
}

}  // namespace gdn
