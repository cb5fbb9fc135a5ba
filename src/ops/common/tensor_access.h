// SPDX-License-Identifier: Apache-2.0
// Elements of tensors of any float dtype, for the scalar references.
#pragma once

#include "tensor/tensor.h"

namespace gdn {

// Element [i, j, l] of a tensor of rank 3.
inline int64_t OffsetOf(const ConstTensor& tensor, int64_t i, int64_t j, int64_t l) {
  return i * tensor.stride(0) + j * tensor.stride(1) + l * tensor.stride(2);
}

inline float LoadAt(const ConstTensor& tensor, int64_t offset) {
  return DispatchFloat(tensor.dtype,
                       [&](auto t) { return ToF32(tensor.As<decltype(t)>()[offset]); });
}

// Rounds to the tensor's dtype.
inline void StoreAt(const Tensor& tensor, int64_t offset, float value) {
  DispatchFloat(tensor.dtype,
                [&](auto t) { tensor.As<decltype(t)>()[offset] = FromF32<decltype(t)>(value); });
}

}  // namespace gdn
