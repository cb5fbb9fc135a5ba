// SPDX-License-Identifier: Apache-2.0
// What the host gives linear_gpu.cu, and the sizes of its blocks.
#pragma once

#include "backend/gpu/operands.h"
#include "backend/gpu/shared_bytes.h"

namespace gdn::gpu {

enum class LinearOut : uint32_t { kElements, kRoundedF32, kF32 };

struct LinearParams {
  Rows x;
  const void* weight = nullptr;  // the gate, where there is up
  const void* up = nullptr;      // linear_silu_and_mul's second matrix, or null
  MutableRows out;
  uint32_t num_rows = 0;
  uint32_t num_outputs = 0;
  uint32_t num_inputs = 0;
  uint32_t slice_k = 0;  // of k, that one accumulator sums
  uint32_t is_row_major = 0;
  uint32_t x_has_pairs = 0;  // elements 2 i and 2 i + 1 of x are one aligned dword
  LinearOut form = LinearOut::kElements;
  uint32_t unused = 0;
};

constexpr uint32_t kLinearPanel = 32;  // outputs, side by side in a packed weight
constexpr uint32_t kLinearMaxSlices = 8;
constexpr uint32_t kLinearFewRows = 16;    // of a block of the form for few rows
constexpr uint32_t kLinearTileRows = 128;  // of a block of the other
constexpr uint32_t kLinearTileColumns = 64;
constexpr uint32_t kLinearTileK = 32;
constexpr uint32_t kLinearInputPitch = kLinearTileK + 8;  // keeps rows in different banks
constexpr uint32_t kLinearWeightPitch = kLinearTileColumns + 8;

constexpr uint32_t LinearFewSharedBytes(bool is_gated) {
  return SharedBytes<float>(kLinearMaxSlices * kLinearFewRows * kLinearPanel * (is_gated ? 2 : 1));
}
constexpr uint32_t LinearTilesSharedBytes(uint32_t element_bytes, bool is_gated) {
  return kLinearTileRows * kLinearInputPitch * element_bytes +
         kLinearTileK / (4 / element_bytes) * kLinearWeightPitch * 4 +
         (is_gated ? kLinearTileRows * kLinearPanel * 4 : 0);
}

}  // namespace gdn::gpu
