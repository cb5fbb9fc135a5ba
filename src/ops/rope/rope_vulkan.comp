// SPDX-License-Identifier: Apache-2.0
// An invocation a pair of elements; see rope.h. Reads and writes T * heads * rotary_dim elements, and
// reads a row of the table a token.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) readonly buffer P { int positions[]; };
layout(binding = 1) readonly buffer T { float table[]; };
layout(binding = 2) buffer X { ELEMENT x[]; };

layout(push_constant) uniform Push {
  uint num_tokens, num_heads, half_dim;
  uint positions_base;
  uint table_base, table_stride;
  uint x_base, x_token_stride, x_head_stride;
};

void main() {
  const uint index = GroupRow() * 256u + gl_LocalInvocationID.x;
  const uint i = index % half_dim;
  const uint head = index / half_dim % num_heads;
  const uint token = index / half_dim / num_heads;
  if (token >= num_tokens) return;
  const uint row = table_base + uint(positions[positions_base + token]) * table_stride;
  const float c = table[row + i];
  const float s = table[row + half_dim + i];
  const uint at = x_base + token * x_token_stride + head * x_head_stride + i;
  const float low = FROM_ELEMENT(x[at]);
  const float high = FROM_ELEMENT(x[at + half_dim]);
  precise const float new_low = low * c - high * s;
  precise const float new_high = high * c + low * s;
  x[at] = TO_ELEMENT(new_low);
  x[at + half_dim] = TO_ELEMENT(new_high);
}
