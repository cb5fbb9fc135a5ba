// SPDX-License-Identifier: Apache-2.0
// Joins the chunks that attention_vulkan.comp left in scratch, in order: a workgroup a row (a token
// and a query head). Reads (head_dim + 2) f32 a chunk, writes head_dim elements.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/attention/attention.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) readonly buffer S { float partial[]; };
layout(binding = 1) readonly buffer P { int positions[]; };
layout(binding = 2) writeonly buffer O { ELEMENT out_rows[]; };

layout(push_constant) uniform Push {
  uint num_rows, num_heads, head_dim, max_chunks;
  uint partial_base, positions_base, out_base;
};

void main() {
  const uint row = GroupRow();
  if (row >= num_rows) return;
  const uint last_key = uint(positions[positions_base + row / num_heads]);
  for (uint d = gl_LocalInvocationID.x; d < head_dim; d += 256u) {
    precise float total = 0.0;
    precise float total_sum = 0.0;
    float total_max = MinusInfinity();
    for (uint chunk = 0u; chunk <= last_key / kChunk; ++chunk) {
      const uint at = partial_base + (row * max_chunks + chunk) * (head_dim + 2u);
      const float chunk_max = partial[at + head_dim];
      const vec2 factors = MergeFactors(total_max, chunk_max);
      total = Merge(total, partial[at + d], factors);
      total_sum = Merge(total_sum, partial[at + head_dim + 1u], factors);
      total_max = max(total_max, chunk_max);
    }
    precise const float value = total / total_sum;
    out_rows[out_base + row * head_dim + d] = TO_ELEMENT(value);
  }
}
