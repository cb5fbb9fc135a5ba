// SPDX-License-Identifier: Apache-2.0
// A block a token; see attention.h. Reads and writes 2 * T * Hkv * head_dim elements, side by side
// within a head.
#include "ops/attention/attention_chunks_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::KvCacheStoreParams;

// Bits are copied, whatever they mean.
template <class Bits>
GDN_GLOBAL(256)
void KvCacheStore(Params p) {
  const uint64_t token = RowOfBlock();
  if (token >= p.num_tokens) return;
  uint32_t sequence = 0;
  while (static_cast<uint64_t>(p.sequences.cu_seqlens[sequence + 1]) <= token) ++sequence;
  const uint32_t position = static_cast<uint32_t>(p.sequences.positions[token]);
  for (uint32_t i = ThreadIndex(); i < p.num_kv_heads * p.head_dim; i += BlockThreads()) {
    const uint32_t head = i / p.head_dim;
    const uint32_t d = i % p.head_dim;
    const uint64_t to =
        KeyBlockAt(p.sequences, sequence, position, p.num_kv_heads, head, p.head_dim) +
        uint64_t{position % gpu::kKeyBlock} * p.head_dim + d;
    static_cast<Bits*>(p.k_cache)[to] = HeadAt<Bits>(p.k, token, head)[d];
    static_cast<Bits*>(p.v_cache)[to] = HeadAt<Bits>(p.v, token, head)[d];
  }
}

GDN_GPU_INSTANCES(kv_cache_store) = {GDN_GPU_INSTANCE(Params, KvCacheStore<uint32_t>),
                                     GDN_GPU_INSTANCE(Params, KvCacheStore<uint16_t>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
