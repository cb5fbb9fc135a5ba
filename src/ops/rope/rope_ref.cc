// SPDX-License-Identifier: Apache-2.0
#include "ops/rope/rope_kernels.h"

namespace gdn {

void RopeRef(const ExecContext& /*ctx*/, const RopeArgs& args) {
  const int64_t h = args.table.dim(1) / 2;
  DispatchFloat(args.x.dtype, [&]<class T>(T) {
    for (int64_t t = 0; t < args.x.dim(0); ++t) {
      const float* cos = args.table.Row<float>(args.positions[static_cast<size_t>(t)]);
      const float* sin = cos + h;
      for (int64_t head = 0; head < args.x.dim(1); ++head) {
        T* x = args.x.Row<T>(t) + head * args.x.stride(1);
        for (int64_t i = 0; i < h; ++i) {
          const float lo = ToF32(x[i]);
          const float hi = ToF32(x[i + h]);
          x[i] = FromF32<T>(lo * cos[i] - hi * sin[i]);
          x[i + h] = FromF32<T>(hi * cos[i] + lo * sin[i]);
        }
      }
    }
  });
}

}  // namespace gdn
