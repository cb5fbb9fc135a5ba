// SPDX-License-Identifier: Apache-2.0
// Whether two views can share bytes: for ops whose outputs alias nothing.
#pragma once

#include <cstddef>
#include <utility>

#include "base/status.h"
#include "base/str.h"
#include "tensor/tensor.h"

namespace gdn {

// [first, last) of the bytes between a view's first and last element; strides must not be negative.
inline std::pair<const std::byte*, const std::byte*> ByteRange(const ConstTensor& tensor) {
  const auto* first = static_cast<const std::byte*>(tensor.data);
  if (tensor.empty() || tensor.shape.NumElements() == 0) return {first, first};
  int64_t last = 1;
  for (int axis = 0; axis < tensor.shape.rank(); ++axis) {
    last += (tensor.shape[axis] - 1) * tensor.stride(axis);
  }
  return {first, first + last * static_cast<int64_t>(SizeOf(tensor.dtype))};
}

// Conservative: two strided views that interleave without sharing a byte count as overlapping.
inline Status CheckNoOverlap(const char* op, const char* out_name, const ConstTensor& out,
                             const char* in_name, const ConstTensor& in) {
  const auto [out_first, out_last] = ByteRange(out);
  const auto [in_first, in_last] = ByteRange(in);
  if (out_first < in_last && in_first < out_last) {
    return InvalidArgument(
        StrCat(op, ": ", out_name, " overlaps ", in_name, ", want memory of its own"));
  }
  return OkStatus();
}

}  // namespace gdn
