// SPDX-License-Identifier: Apache-2.0
// recompute_w_u of README.md: w = T (b exp(G) k), u = T (b v). A workgroup takes 64 columns of w
// (the first ceil(K / 64) of z) or of u, of a chunk of a value head: it reads them and T and writes
// as many.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/gated_delta_rule/chunk.glsl"

layout(binding = 3) readonly buffer K { ELEMENT k[]; };
layout(binding = 4) readonly buffer V { ELEMENT v[]; };
layout(binding = 5) readonly buffer Beta { float beta[]; };
layout(binding = 6) readonly buffer Cum { float cum[]; };
layout(binding = 7) readonly buffer T { ELEMENT t[]; };
layout(binding = 8) writeonly buffer W { ELEMENT w[]; };
layout(binding = 9) writeonly buffer U { ELEMENT u[]; };

shared float row_beta[64];
shared float row_decay[64];
Segment chunk;
uint t_at;
uint first_column;

float TAt(uint i, uint m) { return FROM_ELEMENT(t[t_at + i * kChunk + m]); }

float KeyAt(uint c, uint m) {
  if (m >= chunk.count || first_column + c >= k_dim) return 0.0;
  const uint key_head = gl_WorkGroupID.x / heads_per_key;
  const uint at = k_base + (chunk.first + m) * k_stride + key_head * k_head_stride;
  precise const float k_beta = FROM_ELEMENT(k[at + first_column + c]) * row_beta[m];
  precise const float decayed = k_beta * row_decay[m];
  return Round(decayed);
}

float ValueAt(uint c, uint m) {
  if (m >= chunk.count || first_column + c >= v_dim) return 0.0;
  const uint at = v_base + (chunk.first + m) * v_stride + gl_WorkGroupID.x * v_head_stride;
  precise const float v_beta = FROM_ELEMENT(v[at + first_column + c]) * row_beta[m];
  return Round(v_beta);
}

void main() {
  const uint head = gl_WorkGroupID.x;
  const uint number = gl_WorkGroupID.y;
  const uint self = gl_LocalInvocationID.x;
  const uint key_tiles = (k_dim + 63u) / 64u;
  const bool is_w = gl_WorkGroupID.z < key_tiles;
  chunk = SegmentAt(first_chunk + number, kChunk);
  t_at = ElementsAt(number, head, kChunk * kChunk);
  first_column = 64u * (is_w ? gl_WorkGroupID.z : gl_WorkGroupID.z - key_tiles);
  if (self < kChunk) {
    const uint beta_at = beta_base + (chunk.first + self) * beta_stride + head;
    row_beta[self] = self < chunk.count ? beta[beta_at] : 0.0;
    row_decay[self] = Exp(cum[FloatsAt(number, head, kChunk) + self]);
  }

  precise float sums[16];
  for (uint e = 0u; e < 16u; ++e) sums[e] = 0.0;
  // The first barrier of the product is also that of the rows above.
  if (is_w) {
    MULTIPLY_TILE(sums, chunk.count, FILL_BY_DEPTH, TAt, FILL_BY_INDEX, KeyAt)
  } else {
    MULTIPLY_TILE(sums, chunk.count, FILL_BY_DEPTH, TAt, FILL_BY_INDEX, ValueAt)
  }
  const uint columns = is_w ? k_dim : v_dim;
  const uint to = ElementsAt(number, head, kChunk * columns) + first_column;
  for (uint e = 0u; e < 16u; ++e) {
    const uint i = TileRow(e / 4u);
    const uint c = TileColumn(e % 4u);
    if (first_column + c >= columns) continue;
    if (is_w) {
      w[to + i * columns + c] = TO_ELEMENT(sums[e]);
    } else {
      u[to + i * columns + c] = TO_ELEMENT(sums[e]);
    }
  }
}
