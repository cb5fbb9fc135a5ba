// SPDX-License-Identifier: Apache-2.0
// A workgroup a row; see rms_norm_gated.h. Reads x (the second time from a cache) and the gate, writes
// out: 3 times R * n elements, side by side.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"
#include "ops/common/group_sum.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool kSilu = true;

layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) readonly buffer G { ELEMENT gate[]; };
layout(binding = 2) readonly buffer W { float weight[]; };
layout(binding = 3) writeonly buffer O { ELEMENT out_rows[]; };

layout(push_constant) uniform Push {
  uint num_rows, n;
  float eps;
  uint x_base, x_stride;
  uint gate_base, gate_stride;
  uint weight_base;
  uint out_base, out_stride;
};

float ValueAt(uint i) { return FROM_ELEMENT(x[x_base + GroupRow() * x_stride + i]); }

void main() {
  const uint row = GroupRow();
  if (row >= num_rows) return;
  GROUP_SUM_OF_SQUARES(squares, n, ValueAt)
  precise const float mean = squares / float(n);
  precise const float inverse = 1.0 / sqrt(mean + eps);
  for (uint i = gl_LocalInvocationID.x; i < n; i += 256u) {
    const float z = FROM_ELEMENT(gate[gate_base + row * gate_stride + i]);
    const float act = kSilu ? Silu(z) : Sigmoid(z);
    precise const float y = ValueAt(i) * inverse * weight[weight_base + i] * act;
    out_rows[out_base + row * out_stride + i] = TO_ELEMENT(y);
  }
}
