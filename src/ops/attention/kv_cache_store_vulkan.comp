// SPDX-License-Identifier: Apache-2.0
// A workgroup a token; see attention.h. Reads and writes 2 * T * Hkv * head_dim elements, side by side
// within a head.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"

layout(local_size_x = 256) in;

// Bits are copied, whatever they mean.
#if DTYPE == 0
#define BITS uint
#else
#define BITS uint16_t
#endif

layout(binding = 0) readonly buffer K { BITS k[]; };
layout(binding = 1) readonly buffer V { BITS v[]; };
layout(binding = 2) readonly buffer P { int positions[]; };
layout(binding = 3) readonly buffer C { int cu_seqlens[]; };
layout(binding = 4) readonly buffer T { int block_table[]; };
layout(binding = 5) writeonly buffer KC { BITS k_cache[]; };
layout(binding = 6) writeonly buffer VC { BITS v_cache[]; };

layout(push_constant) uniform Push {
  uint num_tokens, num_heads, head_dim, max_blocks;
  uint k_base, k_token_stride, k_head_stride;
  uint v_base, v_token_stride, v_head_stride;
  uint positions_base, cu_seqlens_base, block_table_base, k_cache_base, v_cache_base;
};

const uint kBlock = 64u;

void main() {
  const uint token = GroupRow();
  if (token >= num_tokens) return;
  uint seq = 0u;
  while (uint(cu_seqlens[cu_seqlens_base + seq + 1u]) <= token) ++seq;
  const uint position = uint(positions[positions_base + token]);
  const uint block = uint(block_table[block_table_base + seq * max_blocks + position / kBlock]);
  for (uint i = gl_LocalInvocationID.x; i < num_heads * head_dim; i += 256u) {
    const uint head = i / head_dim;
    const uint d = i % head_dim;
    const uint to = ((block * num_heads + head) * kBlock + position % kBlock) * head_dim + d;
    k_cache[k_cache_base + to] = k[k_base + token * k_token_stride + head * k_head_stride + d];
    v_cache[v_cache_base + to] = v[v_base + token * v_token_stride + head * v_head_stride + d];
  }
}
