// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/linear/linear_kernels.h"
#include "ops/linear/weight_layout.h"

namespace gdn {
namespace {

void Store(float value, DType round_to, const Tensor& out, int64_t m, int64_t n) {
  DispatchFloat(round_to, [&](auto rounded) {
    using R = decltype(rounded);
    if (out.dtype == DType::kF32) {
      out.Row<float>(m)[n] = RoundTo<R>(value);
    } else {
      out.Row<R>(m)[n] = FromF32<R>(value);
    }
  });
}

}  // namespace

void LinearRef(const ExecContext& /*ctx*/, const LinearArgs& args) {
  const Weight& weight = *args.weight;
  DispatchFloat(weight.dtype(), [&](auto element) {
    using T = decltype(element);
    for (int64_t m = 0; m < args.x.dim(0); ++m) {
      const T* x = args.x.Row<T>(m);
      for (int64_t n = 0; n < weight.rows(); ++n) {
        float sum = 0;
        for (int64_t k = 0; k < weight.cols(); ++k) {
          sum = std::fma(ToF32(x[k]), ToF32(WeightAt<T>(weight, n, k)), sum);
        }
        Store(sum, args.round_to, args.out, m, n);
      }
    }
  });
}

}  // namespace gdn
