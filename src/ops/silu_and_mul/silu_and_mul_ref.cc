// SPDX-License-Identifier: Apache-2.0
#include "ops/common/scalar_math.h"
#include "ops/silu_and_mul/silu_and_mul_kernels.h"

namespace gdn {

void SiluAndMulRef(const ExecContext& /*ctx*/, const SiluAndMulArgs& args) {
  DispatchFloat(args.gate.dtype, [&]<class T>(T) {
    for (int64_t t = 0; t < args.gate.dim(0); ++t) {
      const T* gate = args.gate.Row<T>(t);
      const T* up = args.up.Row<T>(t);
      T* out = args.out.Row<T>(t);
      for (int64_t i = 0; i < args.gate.dim(1); ++i) {
        out[i] = FromF32<T>(RoundTo<T>(SiluF32(ToF32(gate[i]))) * ToF32(up[i]));
      }
    }
  });
}

}  // namespace gdn
