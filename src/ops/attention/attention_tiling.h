// SPDX-License-Identifier: Apache-2.0
// How devices divide attention: rows into tiles, keys into chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "ops/attention/attention.h"

namespace gdn {

// As in attention.glsl and attention_gpu.h.
inline constexpr int64_t kKeysOfAChunk = 256;

// A tile is rows of one sequence and one head of keys, of all heads that read it.
struct AttentionTiling {
  explicit AttentionTiling(const AttentionArgs& args) {
    const int64_t group = args.q.dim(1) / args.cache.k.dim(1);
    const std::span<const int32_t> cu_seqlens = args.index.cu_seqlens;
    int64_t most = 0;
    for (size_t n = 0; n + 1 < cu_seqlens.size(); ++n) {
      most = std::max(most, (cu_seqlens[n + 1] - cu_seqlens[n]) * group);
    }
    rows = most <= 4 ? 4 : most <= 8 ? 8 : 16;
    for (size_t n = 0; n + 1 < cu_seqlens.size(); ++n) {
      count += ((cu_seqlens[n + 1] - cu_seqlens[n]) * group + rows - 1) / rows;
    }
    count *= args.cache.k.dim(1);
    const int32_t last =
        *std::max_element(args.index.positions.begin(), args.index.positions.end());
    num_chunks = last / kKeysOfAChunk + 1;
  }

  int64_t rows = 0;  // of a tile
  int64_t count = 0;
  int64_t num_chunks = 0;
};

}  // namespace gdn
