// SPDX-License-Identifier: Apache-2.0
// An invocation an element; see silu_and_mul.h. Reads 2 and writes 1 of R * n elements, side by side.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) readonly buffer G { ELEMENT gate[]; };
layout(binding = 1) readonly buffer U { ELEMENT up[]; };
layout(binding = 2) writeonly buffer O { ELEMENT out_rows[]; };

layout(push_constant) uniform Push {
  uint num_rows, n;
  uint gate_base, gate_stride;
  uint up_base, up_stride;
  uint out_base, out_stride;
};

void main() {
  const uint index = GroupRow() * 256u + gl_LocalInvocationID.x;
  const uint row = index / n;
  const uint i = index % n;
  if (row >= num_rows) return;
  const float gate_value = FROM_ELEMENT(gate[gate_base + row * gate_stride + i]);
  const float up_value = FROM_ELEMENT(up[up_base + row * up_stride + i]);
  precise const float product = Round(Silu(gate_value)) * up_value;
  out_rows[out_base + row * out_stride + i] = TO_ELEMENT(product);
}
