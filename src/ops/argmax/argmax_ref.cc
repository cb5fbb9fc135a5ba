// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "ops/argmax/argmax_kernels.h"

namespace gdn {

void ArgmaxRef(const ExecContext& /*ctx*/, const ArgmaxArgs& args) {
  for (int64_t row = 0; row < args.x.dim(0); ++row) {
    const float* x = args.x.Row<float>(row);
    float largest = -std::numeric_limits<float>::infinity();
    int32_t index = -1;
    for (int64_t i = 0; i < args.x.dim(1); ++i) {
      if (!(x[i] > largest)) continue;
      largest = x[i];
      index = static_cast<int32_t>(i);
    }
    args.index.As<int32_t>()[row] = index;
  }
}

}  // namespace gdn
