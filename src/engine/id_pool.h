// SPDX-License-Identifier: Apache-2.0
// Who holds which row of a pool: state slots and KV blocks. Row 0 is null and never given out.
#pragma once

#include <cstdint>
#include <vector>

#include "base/check.h"

namespace gdn {

class IdPool {
 public:
  // Gives out ids 1 .. num_rows - 1, lowest first when new.
  explicit IdPool(int64_t num_rows) {
    free_.reserve(static_cast<size_t>(num_rows));
    for (auto id = static_cast<int32_t>(num_rows - 1); id >= 1; --id) free_.push_back(id);
    capacity_ = static_cast<int64_t>(free_.size());
  }

  int64_t num_free() const { return static_cast<int64_t>(free_.size()); }
  int64_t capacity() const { return capacity_; }

  int32_t Take() {
    GDN_CHECK(!free_.empty());
    const int32_t id = free_.back();
    free_.pop_back();
    return id;
  }
  void Give(int32_t id) {
    GDN_CHECK(id > 0 && num_free() < capacity_);
    free_.push_back(id);
  }

 private:
  std::vector<int32_t> free_;
  int64_t capacity_ = 0;
};

}  // namespace gdn
