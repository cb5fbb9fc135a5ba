// SPDX-License-Identifier: Apache-2.0
// Attention of a tile: kRows rows of one sequence and kv head (a row is a token and one of the query
// heads that share the kv head), over all its keys, or with kSplit over the chunk of 256 keys that
// gl_WorkGroupID.z names. See attention.h for the formula and attention_ref.cc for its order: within
// a chunk it is the reference's, but that the sum of p has 16 parts.
//
// Bytes: the keys and values of the sequence once a tile, q, out. Keys pass through shared memory, 32
// dims at a time; values are read side by side, each for all rows of the tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/attention/attention_tile.glsl"

float sums[kSums];    // of p v, of the chunk
float totals[kSums];  // of the chunks before

// Sum i of this invocation belongs to a row of the tile and a dim: sums are dealt out side by side, a
// row after the other. Rows are said without the invocation where they are the same for all.
uint SumRow(uint i) {
  if (kHeadDim % 256u == 0u) return i / (kHeadDim / 256u);
  return min((gl_LocalInvocationID.x + 256u * i) / kHeadDim, kRows - 1u);
}
uint SumDim(uint i) { return (gl_LocalInvocationID.x + 256u * i) % kHeadDim; }
const bool kOneDim = 256u % kHeadDim == 0u;  // of all sums of an invocation
bool SumExists(uint i) {
  return gl_LocalInvocationID.x + 256u * i < kRows * kHeadDim && num_keys[SumRow(i)] > 0u;
}

float Value(uint v_at, uint j, uint d) { return FROM_ELEMENT(v_cache[v_at + j * kHeadDim + d]); }

// Adds p v of a block of keys. A key that a row does not see is never multiplied: it may be infinite.
void AddValues(uint first_key, uint count, uint v_at) {
  uint limits[kSums];
  [[unroll]] for (uint i = 0u; i < kSums; ++i) {
    const uint row = SumRow(i);
    precise const float scaled = sums[i] * row_alpha[row];
    sums[i] = scaled;
    limits[i] = max(num_keys[row], first_key) - first_key;
  }
  for (uint j = 0u; j < count; ++j) {
    float v = kOneDim ? Value(v_at, j, SumDim(0u)) : 0.0;
    [[unroll]] for (uint i = 0u; i < kSums; ++i) {
      if (!kOneDim) v = Value(v_at, j, SumDim(i));
      sums[i] = j < limits[i] ? fma(p[SumRow(i) * kBlock + j], v, sums[i]) : sums[i];
    }
  }
}

void StorePartial(uint chunk) {
  [[unroll]] for (uint i = 0u; i < kSums; ++i) {
    if (!SumExists(i)) continue;
    const uint at = (out_row[SumRow(i)] * max_chunks + chunk) * (kHeadDim + 2u);
    partial[partial_base + at + SumDim(i)] = sums[i];
  }
  const uint row = gl_LocalInvocationID.x;
  if (row < kRows && num_keys[row] > 0u) {
    const uint at = (out_row[row] * max_chunks + chunk) * (kHeadDim + 2u) + kHeadDim;
    partial[partial_base + at] = row_max[row];
    partial[partial_base + at + 1u] = row_sum[row];
  }
}

void JoinChunk(uint chunk) {
  const uint row = gl_LocalInvocationID.x;
  if (row < kRows && num_keys[row] > chunk * kChunk) {
    factors[row] = MergeFactors(total_max[row], row_max[row]);
    total_sum[row] = Merge(total_sum[row], row_sum[row], factors[row]);
    total_max[row] = max(total_max[row], row_max[row]);
  }
  barrier();
  [[unroll]] for (uint i = 0u; i < kSums; ++i) {
    if (num_keys[SumRow(i)] > chunk * kChunk) {
      totals[i] = Merge(totals[i], sums[i], factors[SumRow(i)]);
    }
  }
}

void AttendChunk(uint seq, uint kv_head, uint chunk, uint tile_keys) {
  if (gl_LocalInvocationID.x < kRows) {
    row_max[gl_LocalInvocationID.x] = MinusInfinity();
    row_sum[gl_LocalInvocationID.x] = 0.0;
  }
  [[unroll]] for (uint i = 0u; i < kSums; ++i) sums[i] = 0.0;
  barrier();
  const uint end = min(tile_keys, (chunk + 1u) * kChunk);
  for (uint first_key = chunk * kChunk; first_key < end; first_key += kBlock) {
    const uint count = min(end - first_key, kBlock);
    const uint block = uint(block_table[block_table_base + seq * max_blocks + first_key / kBlock]);
    const uint offset = (block * num_kv_heads + kv_head) * kBlock * kHeadDim;
    Score(count, k_base + offset);
    Softmax(first_key);
    AddValues(first_key, count, v_base + offset);
    barrier();
  }
}

void StoreOut() {
  [[unroll]] for (uint i = 0u; i < kSums; ++i) {
    if (!SumExists(i)) continue;
    precise const float value = totals[i] / total_sum[SumRow(i)];
    out_rows[out_base + out_row[SumRow(i)] * kHeadDim + SumDim(i)] = TO_ELEMENT(value);
  }
}

// A tile of a sequence that has rows tokens and query heads for this kv head.
void AttendTile(uint seq, uint first_token, uint rows, uint tile) {
  const uint kv_head = GroupRow() % num_kv_heads;
  // Positions ascend: the last row has the most keys.
  const uint last_row = min(rows, (tile + 1u) * kRows) - 1u;
  const uint last_token = first_token + last_row / (num_heads / num_kv_heads);
  const uint tile_keys = uint(positions[positions_base + last_token]) + 1u;
  StartRows(tile * kRows, last_row, first_token, kv_head);
  if (kSplit) {
    const uint chunk = gl_WorkGroupID.z;
    if (chunk * kChunk < tile_keys) {
      AttendChunk(seq, kv_head, chunk, tile_keys);
      StorePartial(chunk);
    }
  } else {
    [[unroll]] for (uint i = 0u; i < kSums; ++i) totals[i] = 0.0;
    for (uint chunk = 0u; chunk * kChunk < tile_keys; ++chunk) {
      AttendChunk(seq, kv_head, chunk, tile_keys);
      JoinChunk(chunk);
    }
    StoreOut();
  }
}

void main() {
  uint tile = GroupRow() / num_kv_heads;
  for (uint seq = 0u; seq < num_seqs; ++seq) {
    const uint first_token = uint(cu_seqlens[cu_seqlens_base + seq]);
    const uint tokens = uint(cu_seqlens[cu_seqlens_base + seq + 1u]) - first_token;
    const uint rows = tokens * (num_heads / num_kv_heads);
    const uint tiles = (rows + kRows - 1u) / kRows;
    if (tile < tiles) {
      AttendTile(seq, first_token, rows, tile);
      break;
    }
    tile -= tiles;
  }
}
