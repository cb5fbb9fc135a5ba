// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "ops/attention/attention_kernels.h"

namespace gdn {
namespace {

constexpr int64_t kTaskTokens = 16;

const char* RowOf(const ConstTensor& x, int64_t token, int64_t head, int64_t size) {
  return static_cast<const char*>(x.data) + (token * x.stride(0) + head * x.stride(1)) * size;
}

}  // namespace

void KvCacheStoreCpu(const ExecContext& ctx, const KvCacheStoreArgs& args) {
  const PagedIndex& index = args.index;
  const auto size = static_cast<int64_t>(SizeOf(args.k.dtype));
  const auto row_bytes = static_cast<size_t>(args.k.dim(2) * size);
  const int64_t num_tokens = args.k.dim(0);
  auto* const k_cache = static_cast<char*>(args.cache.k.data);
  auto* const v_cache = static_cast<char*>(args.cache.v.data);
  const int64_t tasks = (num_tokens + kTaskTokens - 1) / kTaskTokens;
  ctx.pool->Run(tasks, [&](int64_t task, int) {
    const int64_t first = task * kTaskTokens;
    int64_t seq = 0;
    for (int64_t t = first; t < std::min(first + kTaskTokens, num_tokens); ++t) {
      while (index.cu_seqlens[static_cast<size_t>(seq) + 1] <= t) ++seq;
      const int64_t position = index.positions[static_cast<size_t>(t)];
      for (int64_t h = 0; h < args.k.dim(1); ++h) {
        const int64_t offset = KvOffset(args.cache, index, seq, position, h) * size;
        std::memcpy(k_cache + offset, RowOf(args.k, t, h, size), row_bytes);
        std::memcpy(v_cache + offset, RowOf(args.v, t, h, size), row_bytes);
      }
    }
  });
}

}  // namespace gdn
