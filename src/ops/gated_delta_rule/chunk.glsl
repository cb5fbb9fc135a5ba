// SPDX-License-Identifier: Apache-2.0
// What the five stages of the chunk form share: their push constants, where in scratch a chunk of a
// head lies, and the product of tiles of 64 x 64. A chunk has 64 rows in scratch, zero behind its
// last token. Chunks are numbered through the batch; a dispatch takes num_chunks of them.
#ifndef GDN_OPS_GATED_DELTA_RULE_CHUNK_GLSL_
#define GDN_OPS_GATED_DELTA_RULE_CHUNK_GLSL_

#include "ops/common/numerics.glsl"

layout(local_size_x = 256) in;

layout(push_constant) uniform Push {
  uint num_sequences, cu_base, slots_base, initial_base;
  uint first_chunk, num_chunks;
  uint num_value_heads, heads_per_key, k_dim, v_dim;
  float scale;
  uint scratch_base;  // bytes
  uint q_base, q_stride, q_head_stride;
  uint k_base, k_stride, k_head_stride;
  uint v_base, v_stride, v_head_stride;
  uint log_decay_base, log_decay_stride;
  uint beta_base, beta_stride;
  uint state_base, slot_stride;
  uint out_base;
};
#include "ops/common/sequences.glsl"

const uint kChunk = 64u;
#if DTYPE == 0
const uint kElementBytes = 4u;
#else
const uint kElementBytes = 2u;
#endif

// Element 0 of a chunk of a head in a part of scratch that has size elements each.
uint FloatsAt(uint chunk, uint head, uint size) {
  return scratch_base / 4u + (chunk * num_value_heads + head) * size;
}
uint ElementsAt(uint chunk, uint head, uint size) {
  return scratch_base / kElementBytes + (chunk * num_value_heads + head) * size;
}

// An invocation owns 4 x 4 elements of a tile: its sums[4 r + c] is at TileRow(r), TileColumn(c).
uint TileRow(uint r) { return gl_LocalInvocationID.x / 16u + 16u * r; }
uint TileColumn(uint c) { return gl_LocalInvocationID.x % 16u + 16u * c; }

shared float tile_rows[64 * 17];
shared float tile_columns[64 * 17];

// tile[i, m] = At(i, m0 + m), i < 64, m < 16, for memory where m is innermost, or where i is.
#define FILL_BY_DEPTH(tile, m0, At)                               \
  for (uint e = gl_LocalInvocationID.x; e < 1024u; e += 256u) {   \
    tile[e / 16u * 17u + e % 16u] = At(e / 16u, (m0) + e % 16u);  \
  }
#define FILL_BY_INDEX(tile, m0, At)                               \
  for (uint e = gl_LocalInvocationID.x; e < 1024u; e += 256u) {   \
    tile[e % 64u * 17u + e / 64u] = At(e % 64u, (m0) + e / 64u);  \
  }

// sums += over m < depth of RowAt(i, m) * ColumnAt(j, m), m ascending; both are 0 where m or the
// index is past its end.
#define MULTIPLY_TILE(sums, depth, FILL_ROWS, RowAt, FILL_COLUMNS, ColumnAt)  \
  for (uint m0 = 0u; m0 < (depth); m0 += 16u) {                               \
    barrier();                                                                \
    FILL_ROWS(tile_rows, m0, RowAt)                                           \
    FILL_COLUMNS(tile_columns, m0, ColumnAt)                                  \
    barrier();                                                                \
    for (uint m = 0u; m < 16u; ++m) {                                         \
      [[unroll]] for (uint e = 0u; e < 16u; ++e) {                            \
        const float x = tile_rows[TileRow(e / 4u) * 17u + m];                 \
        const float y = tile_columns[TileColumn(e % 4u) * 17u + m];           \
        sums[e] = fma(x, y, sums[e]);                                         \
      }                                                                       \
    }                                                                         \
  }

#endif  // GDN_OPS_GATED_DELTA_RULE_CHUNK_GLSL_
