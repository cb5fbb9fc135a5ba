// SPDX-License-Identifier: Apache-2.0
#include "ops/embedding/embedding_kernels.h"
#include "ops/linear/weight_layout.h"

namespace gdn {

void EmbeddingRef(const ExecContext& /*ctx*/, const EmbeddingArgs& args) {
  const Weight& table = *args.table;
  DispatchFloat(table.dtype(), [&](auto element) {
    using T = decltype(element);
    for (int64_t t = 0; t < args.out.dim(0); ++t) {
      for (int64_t k = 0; k < table.cols(); ++k) {
        args.out.Row<T>(t)[k] = WeightAt<T>(table, args.ids[static_cast<size_t>(t)], k);
      }
    }
  });
}

}  // namespace gdn
