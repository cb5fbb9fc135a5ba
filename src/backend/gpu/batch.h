// SPDX-License-Identifier: Apache-2.0
// Makes the operands of kernels (operands.h) from the arguments of operators.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "backend/gpu/operands.h"
#include "backend/gpu/stream.h"
#include "tensor/tensor.h"

namespace gdn::gpu {

inline Rows RowsOf(const ConstTensor& tensor) {
  return {tensor.data, tensor.empty() ? 0 : tensor.stride(0)};
}
inline MutableRows RowsOf(const Tensor& tensor) {
  return {tensor.data, tensor.empty() ? 0 : tensor.stride(0)};
}
inline Heads HeadsOf(const ConstTensor& tensor) {
  return {tensor.data, tensor.stride(0), tensor.stride(1)};
}

inline Sequences UploadSequences(Stream& stream, std::span<const int32_t> cu_seqlens,
                                 std::span<const int32_t> state_slots,
                                 std::span<const uint8_t> has_initial_state) {
  return {stream.Upload(cu_seqlens), stream.Upload(state_slots), stream.Upload(has_initial_state),
          static_cast<uint32_t>(state_slots.size())};
}

// Segments of at most length tokens, counted from the first token of each sequence on.
inline int64_t CountSegments(std::span<const int32_t> cu_seqlens, int64_t length) {
  int64_t count = 0;
  for (size_t n = 0; n + 1 < cu_seqlens.size(); ++n) {
    count += (cu_seqlens[n + 1] - cu_seqlens[n] + length - 1) / length;
  }
  return count;
}

// A block for each row, as RowOfBlock() of gpu_rows.h reads them: no axis is longer than every
// device allows, so that there may be blocks without a row.
inline Grid RowGrid(int64_t rows) {
  constexpr int64_t kMost = 65535;
  if (rows == 0) return {.x = 0};
  const int64_t x = std::min(rows, kMost);
  return {.x = static_cast<uint32_t>(x), .y = static_cast<uint32_t>((rows + x - 1) / x)};
}
// A thread for each element, number RowOfBlock() * kBlockThreads + the thread's.
inline Grid ElementGrid(int64_t elements) {
  return RowGrid((elements + kBlockThreads - 1) / kBlockThreads);
}

}  // namespace gdn::gpu
