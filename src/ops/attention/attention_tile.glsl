// SPDX-License-Identifier: Apache-2.0
// The state of a tile of attention_vulkan.comp, and its scores and softmax over a block of keys.
#ifndef GDN_OPS_ATTENTION_ATTENTION_TILE_GLSL_
#define GDN_OPS_ATTENTION_ATTENTION_TILE_GLSL_

#include "ops/attention/attention.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kHeadDim = 64u;
layout(constant_id = 1) const uint kRows = 16u;  // 4, 8 or 16
layout(constant_id = 2) const bool kSplit = false;

layout(binding = 0) readonly buffer Q { ELEMENT q[]; };
layout(binding = 1) readonly buffer K { ELEMENT k_cache[]; };
layout(binding = 2) readonly buffer V { ELEMENT v_cache[]; };
layout(binding = 3) readonly buffer P { int positions[]; };
layout(binding = 4) readonly buffer C { int cu_seqlens[]; };
layout(binding = 5) readonly buffer T { int block_table[]; };
layout(binding = 6) writeonly buffer O { ELEMENT out_rows[]; };
// Of each row and chunk: the sums of p v, the greatest score, the sum of p.
layout(binding = 7) writeonly buffer S { float partial[]; };

layout(push_constant) uniform Push {
  uint num_seqs, num_heads, num_kv_heads, max_blocks, max_chunks;
  float scale;
  uint q_base, q_token_stride, q_head_stride;
  uint k_base, v_base, positions_base, cu_seqlens_base, block_table_base, out_base, partial_base;
};

const uint kStep = 32u;   // dims of keys in shared memory
const uint kPitch = 33u;  // keeps rows in different banks
const uint kSums = (kRows * kHeadDim + 255u) / 256u;  // of an invocation
const uint kScores = kRows / 4u;                      // of an invocation

shared float q_part[kRows * kPitch];
shared float k_part[kBlock * kPitch];
shared float p[kRows * kBlock];
shared float parts[256];
shared uint num_keys[kRows];  // 0: there is no such row
shared uint out_row[kRows];   // token * num_heads + head
shared uint q_row[kRows];
shared float row_max[kRows], row_sum[kRows], row_alpha[kRows];
shared float total_max[kRows], total_sum[kRows];
shared vec2 factors[kRows];

// Rows first_row to last_row of the sequence's for this kv head.
void StartRows(uint first_row, uint last_row, uint first_token, uint kv_head) {
  const uint lane = gl_LocalInvocationID.x;
  const uint group = num_heads / num_kv_heads;
  const uint row = min(first_row + lane, last_row);
  const uint token = first_token + row / group;
  const uint head = kv_head * group + row % group;
  if (lane < kRows) {
    num_keys[lane] =
        first_row + lane <= last_row ? uint(positions[positions_base + token]) + 1u : 0u;
    out_row[lane] = token * num_heads + head;
    q_row[lane] = q_base + token * q_token_stride + head * q_head_stride;
    total_max[lane] = MinusInfinity();
    total_sum[lane] = 0.0;
  }
}

// Scores of a block of keys to p; those past a row's last key mean nothing.
void Score(uint count, uint k_at) {
  const uint key = gl_LocalInvocationID.x % kBlock;
  const uint row = gl_LocalInvocationID.x / kBlock;  // and every 4th after it
  precise float scores[kScores];
  [[unroll]] for (uint r = 0u; r < kScores; ++r) scores[r] = 0.0;
  for (uint first = 0u; first < kHeadDim; first += kStep) {
    for (uint i = gl_LocalInvocationID.x; i < kRows * kStep; i += 256u) {
      const uint d = first + i % kStep;
      const bool is_inside = d < kHeadDim && num_keys[i / kStep] > 0u;
      q_part[i / kStep * kPitch + i % kStep] =
          is_inside ? FROM_ELEMENT(q[q_row[i / kStep] + d]) : 0.0;
    }
    for (uint i = gl_LocalInvocationID.x; i < kBlock * kStep; i += 256u) {
      const uint d = first + i % kStep;
      k_part[i / kStep * kPitch + i % kStep] =
          d < kHeadDim && i / kStep < count ? FROM_ELEMENT(k_cache[k_at + i / kStep * kHeadDim + d])
                                            : 0.0;
    }
    barrier();
    const uint width = min(kStep, kHeadDim - first);
    for (uint d = 0u; d < width; ++d) {
      const float k = k_part[key * kPitch + d];
      [[unroll]] for (uint r = 0u; r < kScores; ++r) {
        scores[r] = fma(q_part[(row + 4u * r) * kPitch + d], k, scores[r]);
      }
    }
    barrier();
  }
  [[unroll]] for (uint r = 0u; r < kScores; ++r) p[(row + 4u * r) * kBlock + key] = scores[r] * scale;
  barrier();
}

// p from scores, and the maximum, the sum and what earlier sums are multiplied by; 16 invocations a
// row.
void Softmax(uint first_key) {
  const uint row = gl_LocalInvocationID.x / 16u;
  const uint part = gl_LocalInvocationID.x % 16u;
  const uint at = min(row, kRows - 1u);
  const uint count = row < kRows && num_keys[at] > first_key ? num_keys[at] - first_key : 0u;
  const float old_max = row_max[at];
  float new_max = old_max;
  for (uint j = part; j < min(count, kBlock); j += 16u) new_max = max(new_max, p[at * kBlock + j]);
  parts[gl_LocalInvocationID.x] = new_max;
  barrier();
  for (uint i = 0u; i < 16u; ++i) new_max = max(new_max, parts[row * 16u + i]);
  barrier();
  precise float sum = 0.0;
  for (uint j = part; j < min(count, kBlock); j += 16u) {
    const float value = Exp(p[at * kBlock + j] - new_max);
    p[at * kBlock + j] = value;
    sum += value;
  }
  parts[gl_LocalInvocationID.x] = sum;
  barrier();
  if (part == 0u && row < kRows) {
    row_alpha[row] = 1.0;
    if (count > 0u) {
      float sums[16];
      [[unroll]] for (uint i = 0u; i < 16u; ++i) sums[i] = parts[row * 16u + i];
      const float total = FoldSums(sums);
      const float alpha = Exp(old_max - new_max);
      precise const float new_sum = row_sum[row] * alpha + total;
      row_max[row] = new_max;
      row_sum[row] = new_sum;
      row_alpha[row] = alpha;
    }
  }
  barrier();
}

#endif  // GDN_OPS_ATTENTION_ATTENTION_TILE_GLSL_
