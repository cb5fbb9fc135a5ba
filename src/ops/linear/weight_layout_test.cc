// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/weight_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gdn {
namespace {

constexpr auto kIgnore = [](int64_t /*first*/, int64_t /*count*/) {};

TEST(WeightParts, CoverAllRowsInOrderWithinTheLimit) {
  constexpr int64_t kRows = 32 * 7 + 5;
  constexpr int64_t kCols = 9;
  const std::vector<Bf16> values(kRows * kCols);
  const ConstTensor source(values.data(), Shape{kRows, kCols});
  ThreadPool pool(1);
  const Weight packed = Weight::Pack(source, pool, kIgnore).value();
  const Weight view = Weight::View(source);
  for (const Weight* weight : {&packed, &view}) {
    const bool is_packed = weight == &packed;
    const int64_t panel_bytes = 32 * (is_packed ? kCols + 1 : kCols) * 2;
    for (const int64_t panels : {0, 1, 2, 3, 7, 8, 100}) {
      int64_t next = 0;
      int64_t bytes = 0;
      ForEachPart(*weight, static_cast<uint64_t>(panels * panel_bytes + panel_bytes / 2),
                  [&](const WeightPart& part) {
                    EXPECT_EQ(part.first_row, next);
                    EXPECT_EQ(part.data, static_cast<const std::byte*>(weight->data()) + bytes);
                    EXPECT_LE(part.num_rows, 32 * std::max<int64_t>(panels, 1));
                    next += part.num_rows;
                    bytes += static_cast<int64_t>(part.bytes);
                    if (next < kRows) {
                      EXPECT_EQ(part.num_rows, 32 * std::max<int64_t>(panels, 1));
                    }
                  });
      EXPECT_EQ(next, kRows);
      EXPECT_EQ(static_cast<size_t>(bytes), weight->size_bytes());
    }
  }
}

}  // namespace
}  // namespace gdn
