// SPDX-License-Identifier: Apache-2.0
// chunk_fwd_o of README.md: o = scale (exp(G) q S^T + P v'). A workgroup takes 64 value columns of
// a chunk of a value head: it reads q, P, its rows of the state and its columns of v', and writes
// as many of out. Rows of null slots become 0.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/gated_delta_rule/chunk.glsl"

layout(binding = 3) readonly buffer Q { ELEMENT q[]; };
layout(binding = 4) readonly buffer Cum { float cum[]; };
layout(binding = 5) readonly buffer P { ELEMENT p[]; };
layout(binding = 6) readonly buffer U { ELEMENT u[]; };  // v'
layout(binding = 7) readonly buffer H { ELEMENT h[]; };
layout(binding = 8) writeonly buffer Out { ELEMENT out_rows[]; };

Segment chunk;
uint p_at;
uint u_at;
uint h_at;
uint first_column;

float QueryAt(uint i, uint d) {
  if (i >= chunk.count || d >= k_dim) return 0.0;
  const uint key_head = gl_WorkGroupID.x / heads_per_key;
  return FROM_ELEMENT(q[q_base + (chunk.first + i) * q_stride + key_head * q_head_stride + d]);
}
float StateAt(uint c, uint d) {
  if (d >= k_dim || first_column + c >= v_dim) return 0.0;
  return FROM_ELEMENT(h[h_at + (first_column + c) * k_dim + d]);
}
float PAt(uint i, uint m) { return FROM_ELEMENT(p[p_at + i * kChunk + m]); }
float ValueAt(uint c, uint m) {
  if (m >= chunk.count || first_column + c >= v_dim) return 0.0;
  return FROM_ELEMENT(u[u_at + m * v_dim + first_column + c]);
}

void main() {
  const uint head = gl_WorkGroupID.x;
  const uint number = gl_WorkGroupID.y;
  first_column = 64u * gl_WorkGroupID.z;
  chunk = SegmentAt(first_chunk + number, kChunk);
  p_at = ElementsAt(number, head, kChunk * kChunk);
  u_at = ElementsAt(number, head, kChunk * v_dim);
  h_at = ElementsAt(number, head, v_dim * k_dim);
  const bool is_null = StateSlot(chunk.sequence) <= 0;

  precise float reads[16];
  precise float values[16];
  for (uint e = 0u; e < 16u; ++e) {
    reads[e] = 0.0;
    values[e] = 0.0;
  }
  if (!is_null) {
    MULTIPLY_TILE(reads, k_dim, FILL_BY_DEPTH, QueryAt, FILL_BY_DEPTH, StateAt)
    MULTIPLY_TILE(values, chunk.count, FILL_BY_DEPTH, PAt, FILL_BY_INDEX, ValueAt)
  }
  for (uint e = 0u; e < 16u; ++e) {
    const uint i = TileRow(e / 4u);
    const uint column = first_column + TileColumn(e % 4u);
    if (i >= chunk.count || column >= v_dim) continue;
    const float decay = Exp(cum[FloatsAt(number, head, kChunk) + i]);
    precise const float o = (reads[e] * decay) * scale + values[e] * scale;
    const uint at = out_base + ((chunk.first + i) * num_value_heads + head) * v_dim + column;
    out_rows[at] = TO_ELEMENT(is_null ? 0.0 : o);
  }
}
