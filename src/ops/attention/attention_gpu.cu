// SPDX-License-Identifier: Apache-2.0
// A block a tile: kRows rows of one sequence and kv head (a row is a token and one of the query
// heads that share the kv head), over all their keys, or, where there is room for partial sums,
// over the chunk of 256 keys that BlockZ() names. See attention.h for the formula and
// attention_ref.cc for its order: within a chunk it is the reference's, but that the sum of p has
// 16 parts.
//
// Threads: in scores a key and every fourth row, in the softmax sixteen a row, in sums of p v a dim
// (two above 256) and every 256 / kDim-th row. Bytes: the keys and values of the sequence once a
// tile, q, out. Keys pass through shared memory, some dims at a time; values are read side by side,
// each for all rows of the tile.
#include "ops/attention/attention_tile_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::AttentionParams;

template <class T, uint32_t kRows, uint32_t kDim>
GDN_GLOBAL(256)
void Attention(Params p) {
  const uint32_t group = p.num_heads / p.num_kv_heads;
  const uint32_t kv_head = static_cast<uint32_t>(RowOfBlock() % p.num_kv_heads);
  uint64_t number = RowOfBlock() / p.num_kv_heads;
  for (uint32_t sequence = 0; sequence < p.sequences.count; ++sequence) {
    const int32_t* ends = p.sequences.cu_seqlens + sequence;
    const uint32_t rows = static_cast<uint32_t>(ends[1] - ends[0]) * group;
    const uint32_t tiles = (rows + kRows - 1) / kRows;
    if (number < tiles) {
      Tile<T, kRows, kDim> tile(p);
      tile.Run(sequence, kv_head, static_cast<uint32_t>(number) * kRows, rows);
      return;
    }
    number -= tiles;
  }
}

// In the order of gpu::AttentionInstance.
#define GDN_OF_ROWS(T, rows)                             \
  GDN_GPU_INSTANCE(Params, Attention<T, rows, 64>),      \
      GDN_GPU_INSTANCE(Params, Attention<T, rows, 128>), \
      GDN_GPU_INSTANCE(Params, Attention<T, rows, 256>), \
      GDN_GPU_INSTANCE(Params, Attention<T, rows, 512>)
#define GDN_OF_DTYPE(T) GDN_OF_ROWS(T, 4), GDN_OF_ROWS(T, 8), GDN_OF_ROWS(T, 16)
GDN_GPU_INSTANCES(attention) = {GDN_OF_DTYPE(float), GDN_OF_DTYPE(F16), GDN_OF_DTYPE(Bf16)};
#undef GDN_OF_DTYPE
#undef GDN_OF_ROWS

}  // namespace gdn::GDN_GPU_NAMESPACE
