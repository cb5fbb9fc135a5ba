// SPDX-License-Identifier: Apache-2.0
#include "tensor/storage.h"

#include <sys/mman.h>

#include "base/str.h"

namespace gdn {

namespace {

class HostSource final : public MemorySource {
 public:
  Result<Storage> Allocate(size_t bytes, const char* purpose) override {
    if (bytes == 0) return Storage();
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
      return OutOfMemory(StrCat("no memory for ", purpose, ": ", HumanBytes(bytes), " wanted"));
    }
    // Weights and caches are read in long runs: large pages save TLB misses where the system has
    // any.
    madvise(data, bytes, MADV_HUGEPAGE);
    return Storage(*this, static_cast<std::byte*>(data), bytes);
  }
  void Free(std::byte* data, size_t bytes) override { munmap(data, bytes); }
};

}  // namespace

MemorySource& HostMemory() {
  // Never destroyed: memory that lives in static objects comes back to it at exit.
  static HostSource& source = *new HostSource;
  return source;
}

Result<OwnedTensor> OwnedTensor::Allocate(DType dtype, const Shape& shape, const char* purpose,
                                          MemorySource& source) {
  size_t bytes = SizeOf(dtype);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] < 0 || __builtin_mul_overflow(bytes, shape[axis], &bytes)) {
      return OutOfMemory(
          StrCat("no memory for ", purpose, ": ", Name(dtype), " ", shape.ToString(), " wanted"));
    }
  }
  GDN_ASSIGN_OR_RETURN(Storage storage, source.Allocate(bytes, purpose));
  const Tensor view(storage.data(), dtype, shape);
  return OwnedTensor{std::move(storage), view};
}

}  // namespace gdn
