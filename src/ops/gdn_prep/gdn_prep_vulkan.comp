// SPDX-License-Identifier: Apache-2.0
// The first workgroups take sixteen rows of q or k each, the others 256 gates; see gdn_prep.h.
// Every element is read twice, the second time out of a cache, and written once.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"
#include "ops/common/row_sum.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool kDecode = false;
layout(constant_id = 1) const bool kRoundBeta = false;

layout(binding = 0) readonly buffer Q { ELEMENT q[]; };
layout(binding = 1) readonly buffer K { ELEMENT k[]; };
layout(binding = 2) readonly buffer A { ELEMENT a[]; };
layout(binding = 3) readonly buffer B { ELEMENT b[]; };
layout(binding = 4) readonly buffer ALog { float a_log[]; };
layout(binding = 5) readonly buffer DtBias { float dt_bias[]; };
// Of the two views of an output, kDecode writes the wide one.
layout(binding = 6) writeonly buffer QOut { ELEMENT q_out[]; };
layout(binding = 6) writeonly buffer WideQOut { float wide_q_out[]; };
layout(binding = 7) writeonly buffer KOut { ELEMENT k_out[]; };
layout(binding = 7) writeonly buffer WideKOut { float wide_k_out[]; };
layout(binding = 8) writeonly buffer LogDecay { float log_decay[]; };
layout(binding = 9) writeonly buffer Beta { float beta[]; };

layout(push_constant) uniform Push {
  uint num_tokens, num_heads, k_dim, num_value_heads, num_row_groups;
  uint q_base, q_stride, q_head_stride;
  uint k_base, k_stride, k_head_stride;
  uint a_base, a_stride;
  uint b_base, b_stride;
  uint a_log_base, dt_bias_base;
  uint q_out_base, k_out_base, log_decay_base, beta_base;
};

float Softplus(float x) {
  if (x > 20.0) return x;
  const bool splits = !kDecode && x > 0.0;
  precise const float y = 1.0 + Exp(splits ? -x : x);
  precise const float out_value = (splits ? x : 0.0) + Log(y);
  return out_value;
}

void Gate(uint at) {
  if (at >= num_tokens * num_value_heads) return;
  const uint token = at / num_value_heads;
  const uint head = at % num_value_heads;
  precise const float x =
      FROM_ELEMENT(a[a_base + token * a_stride + head]) + dt_bias[dt_bias_base + head];
  precise const float decay = -Exp(a_log[a_log_base + head]) * Softplus(x);
  log_decay[log_decay_base + at] = decay;
  const float gate = Sigmoid(FROM_ELEMENT(b[b_base + token * b_stride + head]));
  beta[beta_base + at] = kRoundBeta ? Round(gate) : gate;
}

float KeyAt(bool is_k, uint token, uint head, uint d) {
  if (is_k) return FROM_ELEMENT(k[k_base + token * k_stride + head * k_head_stride + d]);
  return FROM_ELEMENT(q[q_base + token * q_stride + head * q_head_stride + d]);
}

void StoreKey(bool is_k, uint at, float x) {
  if (kDecode) {
    if (is_k) {
      wide_k_out[k_out_base + at] = x;
    } else {
      wide_q_out[q_out_base + at] = x;
    }
  } else if (is_k) {
    k_out[k_out_base + at] = TO_ELEMENT(x);
  } else {
    q_out[q_out_base + at] = TO_ELEMENT(x);
  }
}

// Rows in the order [T, 2, H]: those of q, those of k.
void Row(uint row) {
  const uint lane = gl_LocalInvocationID.x % 16u;
  const bool is_row = row < num_tokens * 2u * num_heads;
  const uint head = row % num_heads;
  const bool is_k = row / num_heads % 2u == 1u;
  const uint token = row / num_heads / 2u;
  precise float squares = 0.0;
  for (uint d = lane; is_row && d < k_dim; d += 16u) {
    const float x = KeyAt(is_k, token, head, d);
    squares = fma(x, x, squares);
  }
  const float sum = RowSum(0u, squares);
  precise const float inverse = 1.0 / sqrt(sum + 1e-6);
  for (uint d = lane; is_row && d < k_dim; d += 16u) {
    precise const float y = KeyAt(is_k, token, head, d) * inverse;
    StoreKey(is_k, (token * num_heads + head) * k_dim + d, y);
  }
}

void main() {
  const uint group = GroupRow();
  const uint self = gl_LocalInvocationID.x;
  if (group < num_row_groups) {
    Row(group * 16u + self / 16u);
  } else {
    Gate((group - num_row_groups) * 256u + self);
  }
}
