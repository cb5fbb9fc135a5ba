// SPDX-License-Identifier: Apache-2.0
// The kernels of devices behind gated_delta_rule.h, and how the chunk form divides its scratch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backend/exec_context.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"

namespace gdn {

// args have been validated; for the chunk form ctx.scratch holds a chunk at least.
void RunRecurrentVulkan(const ExecContext& ctx, const GatedDeltaRuleArgs& args);
void RunChunkVulkan(const ExecContext& ctx, const GatedDeltaRuleArgs& args);
void RunRecurrentGpu(const ExecContext& ctx, const GatedDeltaRuleArgs& args);
void RunChunkGpu(const ExecContext& ctx, const GatedDeltaRuleArgs& args);

// Chunks that one pass of the five stages takes: enough of them to fill a device.
inline constexpr int64_t kMostDeviceChunks = 32;

// Bytes that a chunk of one value head has in each part of scratch. Its rows are those of
// kChunkSize tokens. A is dead when the state's snapshot is written, and lies where that will.
struct DeviceChunkBytes {
  size_t cum;     // [C] f32
  size_t p;       // [C, C] D
  size_t t;       // [C, C] D
  size_t w;       // [C, K] D
  size_t u;       // [C, V] D, then v'
  size_t a_or_h;  // [C, C] f32, then [V, K] D

  DeviceChunkBytes(DType dtype, int64_t k_dim, int64_t v_dim) {
    const auto elements = [&](int64_t count) { return static_cast<size_t>(count) * SizeOf(dtype); };
    cum = kChunkSize * sizeof(float);
    p = elements(kChunkSize * kChunkSize);
    t = p;
    w = elements(kChunkSize * k_dim);
    u = elements(kChunkSize * v_dim);
    a_or_h = std::max(kChunkSize * kChunkSize * sizeof(float), elements(v_dim * k_dim));
  }
};

// Every part begins at a multiple of this, which is one of every device's alignment.
inline constexpr size_t kDevicePartAlignment = 256;
constexpr size_t DevicePartBytes(size_t bytes) {
  return (bytes + kDevicePartAlignment - 1) / kDevicePartAlignment * kDevicePartAlignment;
}

// Bytes of all parts for that many chunks of all value heads.
inline size_t DeviceScratchBytes(const DeviceChunkBytes& bytes, int64_t num_value_heads,
                                 int64_t num_chunks) {
  size_t sum = 0;
  for (const size_t part : {bytes.cum, bytes.p, bytes.t, bytes.w, bytes.u, bytes.a_or_h}) {
    sum += DevicePartBytes(part * static_cast<size_t>(num_value_heads * num_chunks));
  }
  return sum;
}

// Chunks of a pass: as many as scratch holds, one at least.
inline int64_t ChunksOfAPass(const ExecContext& ctx, const DeviceChunkBytes& bytes,
                             int64_t num_value_heads) {
  int64_t chunks = kMostDeviceChunks;
  while (chunks > 1 &&
         DeviceScratchBytes(bytes, num_value_heads, chunks) > ctx.scratch.size_bytes()) {
    --chunks;
  }
  return chunks;
}

}  // namespace gdn
