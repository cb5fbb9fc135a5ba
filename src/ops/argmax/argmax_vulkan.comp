// SPDX-License-Identifier: Apache-2.0
// A workgroup a row; see argmax.h. Reads R * n elements, side by side, once.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"

layout(local_size_x = 256) in;

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer I { int index[]; };

layout(push_constant) uniform Push {
  uint num_rows, n;
  uint x_base, x_stride;
  uint index_base;
};

shared uint orders[256];
shared uint indices[256];

const uint kOrderOfMinusInfinity = 0x007FFFFFu;

// Integers in the order of the numbers; the two zeros are one, NaN is below all.
uint OrderOf(uint bits) {
  const uint magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return 0u;
  if (magnitude == 0u) return 0x80000000u;
  return bits >> 31 != 0u ? ~bits : bits | 0x80000000u;
}

void main() {
  const uint row = GroupRow();
  if (row >= num_rows) return;
  const uint self = gl_LocalInvocationID.x;
  uint best = kOrderOfMinusInfinity;
  uint best_index = 0xFFFFFFFFu;
  for (uint i = self; i < n; i += 256u) {
    const uint order = OrderOf(floatBitsToUint(x[x_base + row * x_stride + i]));
    if (order > best) {
      best = order;
      best_index = i;
    }
  }
  orders[self] = best;
  indices[self] = best_index;
  barrier();
  for (uint half_size = 128u; half_size > 0u; half_size /= 2u) {
    if (self < half_size) {
      const uint other = orders[self + half_size];
      const uint other_index = indices[self + half_size];
      if (other > best || (other == best && other_index < best_index)) {
        best = other;
        best_index = other_index;
      }
      orders[self] = best;
      indices[self] = best_index;
    }
    barrier();
  }
  if (self == 0u) index[index_base + row] = int(best_index);
}
