// SPDX-License-Identifier: Apache-2.0
// What the host gives causal_conv1d_gpu.cu.
#pragma once

#include "backend/gpu/operands.h"

namespace gdn::gpu {

struct CausalConv1dParams {
  Sequences sequences;
  Rows x;                        // [T, C]
  const void* weight = nullptr;  // [C, Kc]
  MutableRows state;             // a slot: [Kc - 1, C]
  void* out = nullptr;           // [T, C]
  uint64_t num_segments = 0;
  uint64_t channels = 0;
  uint32_t channel_blocks = 0;
  uint32_t rounds_products = 0;
};

// Tokens of a thread: few, so that a prompt of some hundred tokens fills a device, and many next to
// the taps that two segments both read.
inline constexpr uint32_t kConvSegment = 16;

}  // namespace gdn::gpu
