// SPDX-License-Identifier: Apache-2.0
#include "ops/common/scalar_math.h"
#include "ops/sigmoid_mul/sigmoid_mul_kernels.h"

namespace gdn {

void SigmoidMulRef(const ExecContext& /*ctx*/, const SigmoidMulArgs& args) {
  DispatchFloat(args.x.dtype, [&]<class T>(T) {
    for (int64_t row = 0; row < args.x.dim(0); ++row) {
      const T* x = args.x.Row<T>(row);
      const T* gate = args.gate.Row<T>(row);
      T* out = args.out.Row<T>(row);
      for (int64_t i = 0; i < args.x.dim(1); ++i) {
        out[i] = FromF32<T>(ToF32(x[i]) * SigmoidF32(ToF32(gate[i])));
      }
    }
  });
}

}  // namespace gdn
