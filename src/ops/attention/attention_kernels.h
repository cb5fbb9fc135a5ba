// SPDX-License-Identifier: Apache-2.0
// The kernels behind attention.cc. Arguments have been validated.
#pragma once

#include "ops/attention/attention.h"

namespace gdn {

inline constexpr int64_t kMaxHeadDim = 512;

// Element offset of position p, head h in either half of the cache, for sequence n.
inline int64_t KvOffset(const KvCacheView& cache, const PagedIndex& index, int64_t n, int64_t p,
                        int64_t h) {
  const int64_t block =
      index.block_table[static_cast<size_t>(n * index.max_blocks + p / kKvBlockSize)];
  return ((block * cache.k.dim(1) + h) * kKvBlockSize + p % kKvBlockSize) * cache.k.dim(3);
}

void KvCacheStoreRef(const ExecContext& ctx, const KvCacheStoreArgs& args);
void KvCacheStoreCpu(const ExecContext& ctx, const KvCacheStoreArgs& args);
void KvCacheStoreVulkan(const ExecContext& ctx, const KvCacheStoreArgs& args);
void KvCacheStoreGpu(const ExecContext& ctx, const KvCacheStoreArgs& args);

void AttentionRef(const ExecContext& ctx, const AttentionArgs& args);
void AttentionCpu(const ExecContext& ctx, const AttentionArgs& args);
void AttentionVulkan(const ExecContext& ctx, const AttentionArgs& args);
void AttentionGpu(const ExecContext& ctx, const AttentionArgs& args);

}  // namespace gdn
