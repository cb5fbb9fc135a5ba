// SPDX-License-Identifier: Apache-2.0
// An invocation an element; see sigmoid_mul.h. Reads 2 and writes 1 of R * n elements, side by side.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) readonly buffer G { ELEMENT gate[]; };
layout(binding = 2) writeonly buffer O { ELEMENT out_rows[]; };

layout(push_constant) uniform Push {
  uint num_rows, n;
  uint x_base, x_stride;
  uint gate_base, gate_stride;
  uint out_base, out_stride;
};

void main() {
  const uint index = GroupRow() * 256u + gl_LocalInvocationID.x;
  const uint row = index / n;
  const uint i = index % n;
  if (row >= num_rows) return;
  const float x_value = FROM_ELEMENT(x[x_base + row * x_stride + i]);
  const float gate_value = FROM_ELEMENT(gate[gate_base + row * gate_stride + i]);
  precise const float product = x_value * Sigmoid(gate_value);
  out_rows[out_base + row * out_stride + i] = TO_ELEMENT(product);
}
