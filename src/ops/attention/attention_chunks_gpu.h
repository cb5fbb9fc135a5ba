// SPDX-License-Identifier: Apache-2.0
// How the kernels of attention join a chunk of keys to those before it, and where keys lie.
#pragma once

#include "ops/attention/attention_gpu.h"
#include "ops/common/gpu_rows.h"

namespace gdn::GDN_GPU_NAMESPACE {

GDN_DEVICE float MinusInfinity() { return FloatOf(0xFF800000U); }
// A NaN never is the greater one.
GDN_DEVICE float Max(float a, float b) { return a < b ? b : a; }

// What the sums before (total) and of a chunk are multiplied by, for the greatest score so far.
struct MergeFactors {
  float total;
  float chunk;
};
GDN_DEVICE MergeFactors FactorsOf(float total_max, float chunk_max) {
  const float new_max = Max(total_max, chunk_max);
  return {Exp(total_max - new_max), Exp(chunk_max - new_max)};
}
GDN_DEVICE float Merge(float total, float chunk, const MergeFactors& factors) {
  return total * factors.total + chunk * factors.chunk;
}

// The first element of the block of the cache that holds that key of a sequence and head.
GDN_DEVICE uint64_t KeyBlockAt(const gpu::PagedSequences& s, uint32_t sequence, uint32_t key,
                               uint32_t num_kv_heads, uint32_t kv_head, uint32_t head_dim) {
  const uint64_t entry = uint64_t{sequence} * s.max_blocks + key / gpu::kKeyBlock;
  const uint64_t block = static_cast<uint64_t>(s.block_table[entry]);
  return (block * num_kv_heads + kv_head) * gpu::kKeyBlock * head_dim;
}

}  // namespace gdn::GDN_GPU_NAMESPACE
