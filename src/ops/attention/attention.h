// SPDX-License-Identifier: Apache-2.0
// Causal grouped-query attention over a paged KV cache, and the store of new keys and values to it.
//
// out[t, hq] = D( sum_j softmax_j(scale * q[t, hq] . k[j, hk]) v[j, hk] ), j = 0 .. positions[t] of
// the token's own sequence, hk = hq / (Hq / Hkv). Scores, softmax (online, keys in ascending order)
// and the sum are f32, one rounding at the end. The bits of a row depend on its own q and keys
// alone. Source: docs/numerics.md (Qwen3.5 gated attention; the reference leaves the inner rounding
// open).
#pragma once

#include <span>

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

inline constexpr int64_t kKvBlockSize = 64;  // tokens a block of the KV cache

struct KvCacheView {
  Tensor k;  // [blocks, Hkv, kKvBlockSize, head_dim] D; block 0 is null and never given out
  Tensor v;  // like k
};

// Token p of sequence n lives in block block_table[n, p / 64], row p % 64.
struct PagedIndex {
  std::span<const int32_t> positions;   // [T] in the token's sequence; strictly ascending there
  std::span<const int32_t> cu_seqlens;  // [N+1]
  // [N, max_blocks] row-major. Entries past a sequence's last position are not read. Not checked:
  // no two sequences store to one block.
  std::span<const int32_t> block_table;
  int64_t max_blocks = 0;
};

struct KvCacheStoreArgs {
  ConstTensor k;  // [T, Hkv, head_dim] D; tokens and heads may be strided
  ConstTensor v;  // like k
  PagedIndex index;
  KvCacheView cache;  // written
};

struct AttentionArgs {
  // [T, Hq, head_dim <= 512] D: f32, f16 or bf16; tokens and heads may be strided
  ConstTensor q;
  KvCacheView cache;  // holds the keys and values of every position up to each token's own
  PagedIndex index;
  float scale = 0;
  Tensor out;  // [T, Hq, head_dim] D contiguous; must not alias q
};

// Errors: kInvalidArgument for shapes, dtypes, and positions or block ids out of range or order.
Status KvCacheStore(const ExecContext& ctx, const KvCacheStoreArgs& args);
// On a device Attention needs no ctx.scratch; with some, it may give the keys of a row to several
// workgroups. That changes no bit.
Status Attention(const ExecContext& ctx, const AttentionArgs& args);

// Bytes of ctx.scratch that Attention needs on the CPU, whatever the batch and the context length.
size_t AttentionScratchBytes(int64_t num_heads, int64_t head_dim, int num_threads);

}  // namespace gdn
