// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/common/scalar_math.h"
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

template <class T>
float Dot(const T* x, const Weight& weight, int64_t n) {
  const int64_t slice = SliceCols(weight.cols());
  float total = 0;
  for (int64_t first = 0; first < weight.cols(); first += slice) {
    float sum = 0;
    for (int64_t k = first; k < std::min(first + slice, weight.cols()); ++k) {
      sum = std::fma(ToF32(x[k]), ToF32(WeightAt<T>(weight, n, k)), sum);
    }
    total += sum;
  }
  return total;
}

}  // namespace

void LinearRef(const ExecContext& /*ctx*/, const LinearArgs& args) {
  DispatchFloat(args.weight->dtype(), [&]<class T>(T) {
    for (int64_t m = 0; m < args.x.dim(0); ++m) {
      for (int64_t n = 0; n < args.weight->rows(); ++n) {
        Store(Dot(args.x.Row<T>(m), *args.weight, n), args.round_to, args.out, m, n);
      }
    }
  });
}

void LinearSiluAndMulRef(const ExecContext& /*ctx*/, const LinearSiluAndMulArgs& args) {
  DispatchFloat(args.gate->dtype(), [&]<class T>(T) {
    for (int64_t m = 0; m < args.x.dim(0); ++m) {
      const T* x = args.x.Row<T>(m);
      for (int64_t n = 0; n < args.gate->rows(); ++n) {
        const auto gate = RoundTo<T>(Dot(x, *args.gate, n));
        const auto up = RoundTo<T>(Dot(x, *args.up, n));
        args.out.Row<T>(m)[n] = FromF32<T>(RoundTo<T>(SiluF32(gate)) * up);
      }
    }
  });
}

}  // namespace gdn
