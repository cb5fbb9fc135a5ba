// SPDX-License-Identifier: Apache-2.0
// Activations of a step, taken one after the other from one block of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "tensor/tensor.h"

namespace gdn {

// An arena without memory measures: its tensors have no data, and peak_bytes() says what the same
// calls need. So a plan is a dry run of the code that it is for.
class Arena {
 public:
  Arena() = default;
  explicit Arena(std::span<std::byte> memory) : memory_(memory) {}

  Tensor Take(DType dtype, const Shape& shape) {
    const size_t bytes = static_cast<size_t>(shape.NumElements()) * SizeOf(dtype);
    const size_t first = used_;
    used_ += (bytes + 63) / 64 * 64;
    peak_ = std::max(peak_, used_);
    if (memory_.empty()) return {static_cast<void*>(nullptr), dtype, shape};
    GDN_CHECK(used_ <= memory_.size());
    return {static_cast<void*>(memory_.data() + first), dtype, shape};
  }

  // Tensors taken after Mark() are given back by Release(mark).
  size_t Mark() const { return used_; }
  void Release(size_t mark) { used_ = mark; }
  size_t peak_bytes() const { return peak_; }

 private:
  std::span<std::byte> memory_;
  size_t used_ = 0;
  size_t peak_ = 0;
};

}  // namespace gdn
