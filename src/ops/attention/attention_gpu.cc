// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/attention_gpu.h"

#include <algorithm>
#include <bit>

#include "backend/gpu/batch.h"
#include "backend/gpu/gpu_backend.h"
#include "ops/attention/attention_kernels.h"
#include "ops/attention/attention_tiling.h"

GDN_GPU_KERNEL(kv_cache_store)
GDN_GPU_KERNEL(attention)
GDN_GPU_KERNEL(attention_merge)

namespace gdn {
namespace {

static_assert(gpu::kKeyChunk == kKeysOfAChunk);
// Tiles for each processor that keep a device busy without splitting the keys of a row among
// several blocks.
constexpr int64_t kEnoughTiles = 4;

gpu::PagedSequences UploadIndex(gpu::Stream& stream, const PagedIndex& index) {
  return {.positions = stream.Upload(index.positions),
          .cu_seqlens = stream.Upload(index.cu_seqlens),
          .block_table = stream.Upload(index.block_table),
          .count = static_cast<uint32_t>(index.cu_seqlens.size() - 1),
          .max_blocks = static_cast<uint32_t>(index.max_blocks)};
}

// Chunks of a row in scratch, or 0 where a block takes all of them. A power of two where that fits,
// so that steps of decoding are alike as they go on.
int64_t ChunksInScratch(const ExecContext& ctx, const AttentionArgs& args,
                        const AttentionTiling& tiling, int64_t num_processors) {
  // A device of few processors still hides the time that memory takes by having many blocks.
  const int64_t enough = std::max<int64_t>(kEnoughTiles * num_processors, 256);
  if (tiling.num_chunks == 1 || tiling.count >= enough) return 0;
  const size_t chunk_bytes =
      static_cast<size_t>(args.q.dim(0) * args.q.dim(1) * (args.q.dim(2) + 2)) * sizeof(float);
  const auto room = static_cast<int64_t>(ctx.scratch.size_bytes() / chunk_bytes);
  const auto even = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(tiling.num_chunks)));
  return even <= room ? even : tiling.num_chunks <= room ? tiling.num_chunks : 0;
}

}  // namespace

void KvCacheStoreGpu(const ExecContext& ctx, const KvCacheStoreArgs& args) {
  const int64_t num_tokens = args.k.dim(0);
  if (num_tokens == 0) return;
  gpu::Stream& stream = gpu::StreamOf(ctx);
  const gpu::KvCacheStoreParams params = {.sequences = UploadIndex(stream, args.index),
                                          .k = gpu::HeadsOf(args.k),
                                          .v = gpu::HeadsOf(args.v),
                                          .k_cache = args.cache.k.data,
                                          .v_cache = args.cache.v.data,
                                          .num_tokens = static_cast<uint64_t>(num_tokens),
                                          .num_kv_heads = static_cast<uint32_t>(args.k.dim(1)),
                                          .head_dim = static_cast<uint32_t>(args.k.dim(2))};
  stream.Launch(gpu::kernels::kv_cache_store, SizeOf(args.k.dtype) == 4 ? 0 : 1,
                gpu::RowGrid(num_tokens), gpu::kBlockThreads, 0, params);
}

void AttentionGpu(const ExecContext& ctx, const AttentionArgs& args) {
  gpu::Stream& stream = gpu::StreamOf(ctx);
  const AttentionTiling tiling(args);
  const int64_t chunks = ChunksInScratch(ctx, args, tiling, stream.caps().num_processors);
  const auto head_dim = static_cast<uint32_t>(args.q.dim(2));
  const auto rows = static_cast<uint32_t>(tiling.rows);
  const int64_t num_rows = args.q.dim(0) * args.q.dim(1);
  float* partial = nullptr;
  if (chunks > 0) {
    const int64_t floats = num_rows * chunks * (args.q.dim(2) + 2);
    partial =
        reinterpret_cast<float*>(ctx.scratch.Take(static_cast<size_t>(floats) * sizeof(float)));
  }
  const gpu::AttentionParams params = {.sequences = UploadIndex(stream, args.index),
                                       .q = gpu::HeadsOf(args.q),
                                       .k_cache = args.cache.k.data,
                                       .v_cache = args.cache.v.data,
                                       .out = args.out.data,
                                       .partial = partial,
                                       .num_rows = static_cast<uint64_t>(num_rows),
                                       .max_chunks = static_cast<uint32_t>(chunks),
                                       .num_heads = static_cast<uint32_t>(args.q.dim(1)),
                                       .num_kv_heads = static_cast<uint32_t>(args.cache.k.dim(1)),
                                       .head_dim = head_dim,
                                       .scale = args.scale};
  const uint32_t dtype = gpu::DTypeInstance(args.q.dtype);
  const uint32_t padded_dim = head_dim <= 64 ? 64 : std::bit_ceil(head_dim);
  gpu::Grid grid = gpu::RowGrid(tiling.count);
  if (chunks > 0) grid.z = static_cast<uint32_t>(chunks);
  stream.Launch(gpu::kernels::attention, gpu::AttentionInstance(dtype, rows, head_dim), grid,
                gpu::kBlockThreads, gpu::AttentionSharedBytes(rows, padded_dim), params);
  if (chunks > 0) {
    stream.Launch(gpu::kernels::attention_merge, dtype, gpu::RowGrid(num_rows), gpu::kBlockThreads,
                  0, params);
  }
}

}  // namespace gdn
