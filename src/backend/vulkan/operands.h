// SPDX-License-Identifier: Apache-2.0
// Tensors as shaders see them.
#pragma once

#include <cstdint>

#include "backend/vulkan/stream.h"
#include "tensor/tensor.h"

namespace gdn::vulkan {

// All bytes from the first element to the last, the gaps between rows included.
inline Operand OperandOf(const ConstTensor& tensor, bool writes) {
  if (tensor.empty() || tensor.shape.NumElements() == 0) return {};
  int64_t last = 0;
  for (int axis = 0; axis < tensor.shape.rank(); ++axis) {
    last += (tensor.dim(axis) - 1) * tensor.stride(axis);
  }
  return {tensor.data, static_cast<size_t>(last + 1) * SizeOf(tensor.dtype), writes};
}
inline Operand Reads(const ConstTensor& tensor) { return OperandOf(tensor, false); }
inline Operand Writes(const ConstTensor& tensor) { return OperandOf(tensor, true); }

// Bytes that one operand may have, wherever it begins.
inline uint64_t MaxOperandBytes(const Stream& stream) {
  return stream.caps().max_storage_range - stream.caps().storage_alignment;
}

// Push constants that say where row r of a tensor begins: base + r * stride, in elements.
struct RowsAt {
  uint32_t base = 0;
  uint32_t stride = 0;

  RowsAt(const Stream& stream, const ConstTensor& tensor) {
    if (tensor.empty()) return;
    base = stream.Base(tensor);
    stride = static_cast<uint32_t>(tensor.stride(0));
  }
};

// A workgroup a row, as GroupRow() of numerics.glsl reads them: no axis is longer than every device
// allows, so that there may be workgroups without a row.
inline Groups RowGroups(int64_t rows) {
  constexpr int64_t kMost = 32768;
  if (rows == 0) return {.x = 0, .y = 0};
  const int64_t x = rows < kMost ? rows : kMost;
  return {.x = static_cast<uint32_t>(x), .y = static_cast<uint32_t>((rows + x - 1) / x)};
}

// An invocation an element, number GroupRow() * 256 + the invocation's in its workgroup.
inline Groups ElementGroups(int64_t elements) {
  return RowGroups((elements + kGroupSize - 1) / kGroupSize);
}

}  // namespace gdn::vulkan
