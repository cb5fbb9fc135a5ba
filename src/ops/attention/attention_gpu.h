// SPDX-License-Identifier: Apache-2.0
// What the host gives kv_cache_store_gpu.cu, attention_gpu.cu and attention_merge_gpu.cu.
#pragma once

#include "backend/gpu/operands.h"
#include "backend/gpu/shared_bytes.h"

namespace gdn::gpu {

inline constexpr uint32_t kKeyBlock = 64;  // keys of a block of the cache
// Keys are summed in chunks, which are joined in order: one block of threads or many get the same
// bits.
inline constexpr uint32_t kKeyChunk = 256;

// A PagedIndex on the device.
struct PagedSequences {
  const int32_t* positions = nullptr;    // [T]
  const int32_t* cu_seqlens = nullptr;   // [N + 1]
  const int32_t* block_table = nullptr;  // [N, max_blocks]
  uint32_t count = 0;                    // N
  uint32_t max_blocks = 0;
};

struct KvCacheStoreParams {
  PagedSequences sequences;
  Heads k, v;
  void* k_cache = nullptr;  // [blocks, Hkv, kKeyBlock, head_dim]
  void* v_cache = nullptr;
  uint64_t num_tokens = 0;
  uint32_t num_kv_heads = 0;
  uint32_t head_dim = 0;
};

struct AttentionParams {
  PagedSequences sequences;
  Heads q;
  const void* k_cache = nullptr;
  const void* v_cache = nullptr;
  void* out = nullptr;  // [T, Hq, head_dim]
  // Of each row (a token and a query head) and chunk: the head_dim sums of p v, the greatest score,
  // the sum of p. Null where a block of threads takes all chunks of its rows.
  float* partial = nullptr;  // [T, Hq, max_chunks, head_dim + 2]
  uint64_t num_rows = 0;     // T * Hq
  uint32_t max_chunks = 0;
  uint32_t num_heads = 0;
  uint32_t num_kv_heads = 0;
  uint32_t head_dim = 0;
  float scale = 0;
  uint32_t unused = 0;  // no padding: parameters are compared by their bytes
};

// Instances of the attention kernel: of each dtype, for tiles of 4, 8 and 16 rows, each for heads
// of up to 64, 128, 256 and 512 elements.
constexpr uint32_t AttentionInstance(uint32_t dtype_instance, uint32_t rows, uint32_t head_dim) {
  const uint32_t height = rows == 4 ? 0 : rows == 8 ? 1 : 2;
  const uint32_t width = head_dim <= 64 ? 0 : head_dim <= 128 ? 1 : head_dim <= 256 ? 2 : 3;
  return (dtype_instance * 3 + height) * 4 + width;
}

// Dims of keys in shared memory at a time, and from one key's to the next: rows lie in different
// banks.
constexpr uint32_t KeyStep(uint32_t head_dim) { return head_dim <= 256 ? 64 : 32; }
constexpr uint32_t KeyPitch(uint32_t head_dim) { return KeyStep(head_dim) + 1; }

constexpr uint32_t AttentionSharedBytes(uint32_t rows, uint32_t head_dim) {
  return SharedBytes<float>(rows * head_dim) + SharedBytes<float>(kKeyBlock * KeyPitch(head_dim)) +
         SharedBytes<float>(rows * kKeyBlock) + SharedBytes<uint32_t>(rows) +
         3 * SharedBytes<float>(rows);
}

}  // namespace gdn::gpu
