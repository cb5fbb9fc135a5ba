// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace gdn {

// How rows are cut into tiles of nearly equal height.
struct RowTiling {
  int64_t num_rows;
  int64_t count;  // of tiles

  int64_t First(int64_t tile) const { return tile * num_rows / count; }
  int Height(int64_t tile) const { return static_cast<int>(First(tile + 1) - First(tile)); }
};

}  // namespace gdn
