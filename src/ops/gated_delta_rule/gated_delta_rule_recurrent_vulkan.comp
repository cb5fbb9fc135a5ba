// SPDX-License-Identifier: Apache-2.0
// A workgroup takes sixteen value rows of one head of one sequence through all of its tokens,
// sixteen invocations a row, with the state in registers; see gated_delta_rule.h. The state is read
// and written once a call; a token's key is read once a workgroup, out of a cache but for the first
// of a head. Sums have the order of the scalar reference.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"
#include "ops/common/row_sum.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint kKeyDim = 128;
layout(constant_id = 1) const bool kWideKeys = false;   // q and k are f32
layout(constant_id = 2) const bool kWideState = false;  // the state is

// Of two views of a buffer, the constants choose one.
layout(binding = 3) readonly buffer Q { ELEMENT q[]; };
layout(binding = 3) readonly buffer WideQ { float wide_q[]; };
layout(binding = 4) readonly buffer K { ELEMENT k[]; };
layout(binding = 4) readonly buffer WideK { float wide_k[]; };
layout(binding = 5) readonly buffer V { ELEMENT v[]; };
layout(binding = 6) readonly buffer LogDecay { float log_decay[]; };
layout(binding = 7) readonly buffer Beta { float beta[]; };
layout(binding = 8) buffer State { ELEMENT state[]; };
layout(binding = 8) buffer WideState { float wide_state[]; };
layout(binding = 9) writeonly buffer Out { ELEMENT out_rows[]; };

layout(push_constant) uniform Push {
  uint num_sequences, cu_base, slots_base, initial_base;
  uint heads_per_key, v_dim;
  float scale;
  uint q_base, q_stride, q_head_stride;
  uint k_base, k_stride, k_head_stride;
  uint v_base, v_stride, v_head_stride;
  uint log_decay_base, log_decay_stride;
  uint beta_base, beta_stride;
  uint state_base, slot_stride;
  uint out_base;
};
#include "ops/common/sequences.glsl"

const uint kPerLane = (kKeyDim + 15u) / 16u;

float QAt(uint at) { return kWideKeys ? wide_q[at] : FROM_ELEMENT(q[at]); }
float KAt(uint at) { return kWideKeys ? wide_k[at] : FROM_ELEMENT(k[at]); }

uint OutAt(uint token, uint row) {
  return out_base + (token * gl_NumWorkGroups.y + gl_WorkGroupID.y) * v_dim + row;
}

void main() {
  const uint sequence = gl_WorkGroupID.z;
  const uint head = gl_WorkGroupID.y;
  const uint lane = gl_LocalInvocationID.x % 16u;
  const uint row = gl_WorkGroupID.x * 16u + gl_LocalInvocationID.x / 16u;
  const bool is_row = row < v_dim;
  const uint first = FirstToken(sequence);
  const uint last = first + CountTokens(sequence);
  if (first == last) return;
  const int slot = StateSlot(sequence);
  if (slot <= 0) {
    for (uint token = first + lane; is_row && token < last; token += 16u) {
      out_rows[OutAt(token, row)] = TO_ELEMENT(0.0);
    }
    return;
  }

  const uint state_at = state_base + uint(slot) * slot_stride + (head * v_dim + row) * kKeyDim;
  const bool has_initial = is_row && HasInitial(sequence);
  precise float s[kPerLane];
  for (uint e = 0u; e < kPerLane; ++e) {
    const uint d = lane + 16u * e;
    s[e] = 0.0;
    if (has_initial && d < kKeyDim) {
      s[e] = kWideState ? wide_state[state_at + d] : FROM_ELEMENT(state[state_at + d]);
    }
  }

  const uint key_head = head / heads_per_key;
  for (uint token = first; token < last; ++token) {
    const float decay = Exp(log_decay[log_decay_base + token * log_decay_stride + head]);
    const uint k_at = k_base + token * k_stride + key_head * k_head_stride;
    const uint q_at = q_base + token * q_stride + key_head * q_head_stride;
    float key[kPerLane];
    precise float read = 0.0;
    for (uint e = 0u; e < kPerLane; ++e) {
      const uint d = lane + 16u * e;
      key[e] = d < kKeyDim ? KAt(k_at + d) : 0.0;
      s[e] *= decay;
      read = fma(key[e], s[e], read);
    }
    const uint v_at = v_base + token * v_stride + head * v_head_stride + row;
    const float value = is_row ? FROM_ELEMENT(v[v_at]) : 0.0;
    precise const float delta =
        (value - RowSum(0u, read)) * beta[beta_base + token * beta_stride + head];
    precise float o = 0.0;
    for (uint e = 0u; e < kPerLane; ++e) {
      const uint d = lane + 16u * e;
      s[e] = fma(delta, key[e], s[e]);
      precise const float query = d < kKeyDim ? QAt(q_at + d) * scale : 0.0;
      o = fma(query, s[e], o);
    }
    o = RowSum(1u, o);
    if (is_row && lane == 0u) out_rows[OutAt(token, row)] = TO_ELEMENT(o);
  }

  for (uint e = 0u; e < kPerLane; ++e) {
    const uint d = lane + 16u * e;
    if (!is_row || d >= kKeyDim) continue;
    if (kWideState) {
      wide_state[state_at + d] = s[e];
    } else {
      state[state_at + d] = TO_ELEMENT(s[e]);
    }
  }
}
