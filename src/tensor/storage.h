// SPDX-License-Identifier: Apache-2.0
// Owners of host memory for tensors.
#pragma once

#include <cstddef>
#include <memory>

#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

namespace internal {
struct Unmap {
  size_t bytes = 0;
  void operator()(std::byte* data) const;
};
}  // namespace internal

// A zero-filled block, aligned to kAlignment, taken from the system when it is first touched.
// Freed by the destructor. Move only.
class Storage {
 public:
  static constexpr size_t kAlignment = 4096;

  Storage() = default;
  // kOutOfMemory names the size and what it was for.
  static Result<Storage> Allocate(size_t bytes, const char* purpose);

  std::byte* data() const { return data_.get(); }
  size_t size_bytes() const { return data_.get_deleter().bytes; }

 private:
  std::unique_ptr<std::byte, internal::Unmap> data_;
};

// Storage and a contiguous view of all of it.
struct OwnedTensor {
  Storage storage;
  Tensor view;

  static Result<OwnedTensor> Allocate(DType dtype, const Shape& shape, const char* purpose);
};

}  // namespace gdn
