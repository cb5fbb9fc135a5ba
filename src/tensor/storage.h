// SPDX-License-Identifier: Apache-2.0
// Owners of memory for tensors.
#pragma once

#include <cstddef>
#include <memory>

#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

class Storage;

// Where memory comes from: the host, or a device. Outlives what it gave.
class MemorySource {
 public:
  virtual ~MemorySource() = default;

  // A zero-filled block, aligned to Storage::kAlignment. Errors: kOutOfMemory names the size and
  // what it was for.
  virtual Result<Storage> Allocate(size_t bytes, const char* purpose) = 0;
  virtual void Free(std::byte* data, size_t bytes) = 0;
};

// The host's memory, taken from the system when it is first touched.
MemorySource& HostMemory();

namespace internal {
struct FreeTo {
  MemorySource* source = nullptr;
  size_t bytes = 0;
  void operator()(std::byte* data) const { source->Free(data, bytes); }
};
}  // namespace internal

// A block of memory. Freed by the destructor. Move only. The address of a block on a device may be
// one that the host cannot read: it names the bytes, and arithmetic on it does what it does on the
// host's.
class Storage {
 public:
  static constexpr size_t kAlignment = 4096;

  Storage() = default;
  Storage(MemorySource& source, std::byte* data, size_t bytes)
      : data_(data, internal::FreeTo{&source, bytes}) {}
  // From the host.
  static Result<Storage> Allocate(size_t bytes, const char* purpose) {
    return HostMemory().Allocate(bytes, purpose);
  }

  std::byte* data() const { return data_.get(); }
  size_t size_bytes() const { return data_.get_deleter().bytes; }

 private:
  std::unique_ptr<std::byte, internal::FreeTo> data_;
};

// Storage and a contiguous view of all of it.
struct OwnedTensor {
  Storage storage;
  Tensor view;

  static Result<OwnedTensor> Allocate(DType dtype, const Shape& shape, const char* purpose,
                                      MemorySource& source = HostMemory());
};

}  // namespace gdn
