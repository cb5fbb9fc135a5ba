// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "ops/common/rows.h"
#include "ops/rope/rope.h"

namespace gdn {
namespace {

// 1 / theta^(2i / rotary_dim) with every step rounded to f32, as the reference's frequencies are:
// at position 131072 the last bit of one moves the angle by 1e-2.
float Frequency(double theta, int64_t i, int64_t rotary_dim) {
  const float exponent = static_cast<float>(2 * i) / static_cast<float>(rotary_dim);
  const auto base = static_cast<double>(static_cast<float>(theta));
  return 1.0F / static_cast<float>(std::pow(base, static_cast<double>(exponent)));
}

}  // namespace

void FillRopeTable(const ExecContext& ctx, double theta, const Tensor& table) {
  GDN_CHECK(table.dtype == DType::kF32 && table.shape.rank() == 2 && table.dim(1) % 2 == 0);
  const int64_t rotary_dim = table.dim(1);
  const int64_t h = rotary_dim / 2;
  std::vector<float> frequency(static_cast<size_t>(h));
  for (int64_t i = 0; i < h; ++i) {
    frequency[static_cast<size_t>(i)] = Frequency(theta, i, rotary_dim);
  }
  ParallelRows(ctx, table.dim(0), rotary_dim, [&](int64_t first, int64_t last) {
    for (int64_t position = first; position < last; ++position) {
      float* row = table.Row<float>(position);
      for (int64_t i = 0; i < h; ++i) {
        const float angle = static_cast<float>(position) * frequency[static_cast<size_t>(i)];
        row[i] = static_cast<float>(std::cos(static_cast<double>(angle)));
        row[i + h] = static_cast<float>(std::sin(static_cast<double>(angle)));
      }
    }
  });
}

}  // namespace gdn
