// SPDX-License-Identifier: Apache-2.0
// chunk_local_cumsum and chunk_scaled_dot_kkt of README.md, and the product P of chunk_fwd_o, which
// has the same form: a workgroup a chunk of a value head, for A (z = 0) and for P (z = 1). It reads
// 128 rows of K once and writes 64 x 64 elements.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/gated_delta_rule/chunk.glsl"

layout(constant_id = 0) const bool kTf32 = true;

layout(binding = 3) readonly buffer Q { ELEMENT q[]; };
layout(binding = 4) readonly buffer K { ELEMENT k[]; };
layout(binding = 5) readonly buffer LogDecay { float log_decay[]; };
layout(binding = 6) readonly buffer Beta { float beta[]; };
layout(binding = 7) writeonly buffer Cum { float cum_out[]; };
layout(binding = 8) writeonly buffer A { float a[]; };
layout(binding = 9) writeonly buffer P { ELEMENT p[]; };

shared float cum[64];
Segment chunk;

// In lane-shift order: 1, 2, 4, .. 32 positions apart.
void Cumulate(uint head) {
  const uint i = gl_LocalInvocationID.x;
  if (i < kChunk) {
    const uint at = log_decay_base + (chunk.first + i) * log_decay_stride + head;
    cum[i] = i < chunk.count ? log_decay[at] : 0.0;
  }
  for (uint shift = 1u; shift < kChunk; shift *= 2u) {
    barrier();
    const bool has_left = i >= shift && i < kChunk;
    const float left = has_left ? cum[i - shift] : 0.0;
    barrier();
    if (has_left) {
      precise const float sum = cum[i] + left;
      cum[i] = sum;
    }
  }
  barrier();
}

float KeyAt(uint i, uint d) {
  if (i >= chunk.count || d >= k_dim) return 0.0;
  const uint key_head = gl_WorkGroupID.x / heads_per_key;
  return FROM_ELEMENT(k[k_base + (chunk.first + i) * k_stride + key_head * k_head_stride + d]);
}

// Rows of the left operand: q, or k * beta as the product of the reference takes it.
float LeftAt(uint i, uint d) {
  if (i >= chunk.count || d >= k_dim) return 0.0;
  const uint head = gl_WorkGroupID.x;
  const uint token = chunk.first + i;
  if (gl_WorkGroupID.z == 1u) {
    const uint key_head = head / heads_per_key;
    return FROM_ELEMENT(q[q_base + token * q_stride + key_head * q_head_stride + d]);
  }
  precise const float k_beta = KeyAt(i, d) * beta[beta_base + token * beta_stride + head];
  return kTf32 ? uintBitsToFloat(floatBitsToUint(k_beta) & 0xFFFFE000u) : k_beta;
}

void main() {
  const uint head = gl_WorkGroupID.x;
  const uint number = gl_WorkGroupID.y;
  const bool is_p = gl_WorkGroupID.z == 1u;
  const uint self = gl_LocalInvocationID.x;
  chunk = SegmentAt(first_chunk + number, kChunk);
  Cumulate(head);
  if (!is_p && self < kChunk) cum_out[FloatsAt(number, head, kChunk) + self] = cum[self];

  precise float sums[16];
  for (uint e = 0u; e < 16u; ++e) sums[e] = 0.0;
  MULTIPLY_TILE(sums, k_dim, FILL_BY_DEPTH, LeftAt, FILL_BY_DEPTH, KeyAt)
  for (uint e = 0u; e < 16u; ++e) {
    const uint i = TileRow(e / 4u);
    const uint j = TileColumn(e % 4u);
    precise float element = 0.0;
    if (is_p ? i >= j : i > j) element = sums[e] * Exp(cum[i] - cum[j]);
    if (is_p) {
      p[ElementsAt(number, head, kChunk * kChunk) + i * kChunk + j] = TO_ELEMENT(element);
    } else {
      a[FloatsAt(number, head, kChunk * kChunk) + i * kChunk + j] = element;
    }
  }
}
