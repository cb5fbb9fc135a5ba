// SPDX-License-Identifier: Apache-2.0
#include "tensor/storage.h"

#include <sys/mman.h>

#include "base/str.h"

namespace gdn {

void internal::Unmap::operator()(std::byte* data) const { munmap(data, bytes); }

Result<Storage> Storage::Allocate(size_t bytes, const char* purpose) {
  Storage out;
  if (bytes == 0) return out;
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return OutOfMemory(StrCat("no memory for ", purpose, ": ", HumanBytes(bytes), " wanted"));
  }
  // Weights and caches are read in long runs: large pages save TLB misses where the system has any.
  madvise(data, bytes, MADV_HUGEPAGE);
  out.data_ = decltype(out.data_)(static_cast<std::byte*>(data), internal::Unmap{bytes});
  return out;
}

Result<OwnedTensor> OwnedTensor::Allocate(DType dtype, const Shape& shape, const char* purpose) {
  size_t bytes = SizeOf(dtype);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] < 0 || __builtin_mul_overflow(bytes, shape[axis], &bytes)) {
      return OutOfMemory(
          StrCat("no memory for ", purpose, ": ", Name(dtype), " ", shape.ToString(), " wanted"));
    }
  }
  GDN_ASSIGN_OR_RETURN(Storage storage, Storage::Allocate(bytes, purpose));
  const Tensor view(storage.data(), dtype, shape);
  return OwnedTensor{std::move(storage), view};
}

}  // namespace gdn
