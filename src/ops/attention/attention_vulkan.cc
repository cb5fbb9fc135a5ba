// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "backend/vulkan/operands.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/attention/attention_kernels.h"
#include "ops/attention/attention_tiling.h"

GDN_VULKAN_SHADER(attention_vulkan)
GDN_VULKAN_SHADER(attention_merge_vulkan)
GDN_VULKAN_SHADER(kv_cache_store_vulkan)

namespace gdn {
namespace {

// Workgroups that keep a device busy without splitting the keys of a row among several.
constexpr int64_t kEnoughGroups = 256;

// A PagedIndex on the device.
struct IndexOperands {
  IndexOperands(vulkan::Stream& stream, const PagedIndex& index)
      : positions(stream, index.positions),
        cu_seqlens(stream, index.cu_seqlens),
        block_table(stream, index.block_table) {}

  struct Values {
    Values(vulkan::Stream& stream, std::span<const int32_t> values)
        : operand{stream.Upload(values), values.size_bytes()},
          base(operand.data == nullptr ? 0 : stream.Base(operand.data, sizeof(int32_t))) {}
    vulkan::Operand operand;
    uint32_t base;
  };
  Values positions, cu_seqlens, block_table;
};

void MergeChunks(vulkan::Stream& stream, const AttentionArgs& args, const AttentionTiling& tiling,
                 const IndexOperands::Values& positions, const vulkan::Operand& partial) {
  const int64_t num_rows = args.q.dim(0) * args.q.dim(1);
  const struct {
    uint32_t num_rows, num_heads, head_dim, max_chunks, partial_base, positions_base, out_base;
  } push = {.num_rows = static_cast<uint32_t>(num_rows),
            .num_heads = static_cast<uint32_t>(args.q.dim(1)),
            .head_dim = static_cast<uint32_t>(args.q.dim(2)),
            .max_chunks = static_cast<uint32_t>(tiling.num_chunks),
            .partial_base = stream.Base(partial.data, sizeof(float)),
            .positions_base = positions.base,
            .out_base = stream.Base(args.out)};
  const std::array operands = {vulkan::Operand{partial.data, partial.bytes, false},
                               positions.operand, vulkan::Writes(args.out)};
  stream.Dispatch(vulkan::shaders::attention_merge_vulkan, args.q.dtype, operands, push, {},
                  vulkan::RowGroups(num_rows));
}

}  // namespace

void KvCacheStoreVulkan(const ExecContext& ctx, const KvCacheStoreArgs& args) {
  const int64_t num_tokens = args.k.dim(0);
  if (num_tokens == 0) return;
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const IndexOperands index(stream, args.index);
  if (!stream.status().ok()) return;
  const struct {
    uint32_t num_tokens, num_heads, head_dim, max_blocks;
    vulkan::RowsAt k;
    uint32_t k_head_stride;
    vulkan::RowsAt v;
    uint32_t v_head_stride;
    uint32_t positions_base, cu_seqlens_base, block_table_base, k_cache_base, v_cache_base;
  } push = {.num_tokens = static_cast<uint32_t>(num_tokens),
            .num_heads = static_cast<uint32_t>(args.k.dim(1)),
            .head_dim = static_cast<uint32_t>(args.k.dim(2)),
            .max_blocks = static_cast<uint32_t>(args.index.max_blocks),
            .k = {stream, args.k},
            .k_head_stride = static_cast<uint32_t>(args.k.stride(1)),
            .v = {stream, args.v},
            .v_head_stride = static_cast<uint32_t>(args.v.stride(1)),
            .positions_base = index.positions.base,
            .cu_seqlens_base = index.cu_seqlens.base,
            .block_table_base = index.block_table.base,
            .k_cache_base = stream.Base(args.cache.k),
            .v_cache_base = stream.Base(args.cache.v)};
  const std::array operands = {vulkan::Reads(args.k),       vulkan::Reads(args.v),
                               index.positions.operand,     index.cu_seqlens.operand,
                               index.block_table.operand,   vulkan::Writes(args.cache.k),
                               vulkan::Writes(args.cache.v)};
  stream.Dispatch(vulkan::shaders::kv_cache_store_vulkan, args.k.dtype, operands, push, {},
                  vulkan::RowGroups(num_tokens));
}

void AttentionVulkan(const ExecContext& ctx, const AttentionArgs& args) {
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const IndexOperands index(stream, args.index);
  if (!stream.status().ok()) return;
  const AttentionTiling tiling(args);
  const size_t partial_bytes =
      static_cast<size_t>(args.q.dim(0) * args.q.dim(1) * tiling.num_chunks * (args.q.dim(2) + 2)) *
      sizeof(float);
  const bool split = tiling.num_chunks > 1 && tiling.count < kEnoughGroups &&
                     partial_bytes <= ctx.scratch.size_bytes();
  vulkan::Operand partial;
  if (split) partial = {ctx.scratch.Take(partial_bytes), partial_bytes, true};
  const struct {
    uint32_t num_seqs, num_heads, num_kv_heads, max_blocks, max_chunks;
    float scale;
    vulkan::RowsAt q;
    uint32_t q_head_stride;
    uint32_t k_base, v_base, positions_base, cu_seqlens_base, block_table_base, out_base;
    uint32_t partial_base;
  } push = {.num_seqs = static_cast<uint32_t>(args.index.cu_seqlens.size() - 1),
            .num_heads = static_cast<uint32_t>(args.q.dim(1)),
            .num_kv_heads = static_cast<uint32_t>(args.cache.k.dim(1)),
            .max_blocks = static_cast<uint32_t>(args.index.max_blocks),
            .max_chunks = static_cast<uint32_t>(tiling.num_chunks),
            .scale = args.scale,
            .q = {stream, args.q},
            .q_head_stride = static_cast<uint32_t>(args.q.stride(1)),
            .k_base = stream.Base(args.cache.k),
            .v_base = stream.Base(args.cache.v),
            .positions_base = index.positions.base,
            .cu_seqlens_base = index.cu_seqlens.base,
            .block_table_base = index.block_table.base,
            .out_base = stream.Base(args.out),
            .partial_base = split ? stream.Base(partial.data, sizeof(float)) : 0};
  const std::array operands = {vulkan::Reads(args.q),
                               vulkan::Reads(args.cache.k),
                               vulkan::Reads(args.cache.v),
                               index.positions.operand,
                               index.cu_seqlens.operand,
                               index.block_table.operand,
                               split ? vulkan::Operand{} : vulkan::Writes(args.out),
                               partial};
  const std::array<uint32_t, 3> constants = {static_cast<uint32_t>(args.q.dim(2)),
                                             static_cast<uint32_t>(tiling.rows), split ? 1U : 0U};
  vulkan::Groups groups = vulkan::RowGroups(tiling.count);
  if (split) groups.z = static_cast<uint32_t>(tiling.num_chunks);
  stream.Dispatch(vulkan::shaders::attention_vulkan, args.q.dtype, operands, push, constants,
                  groups);
  if (split) MergeChunks(stream, args, tiling, index.positions, partial);
}

}  // namespace gdn
