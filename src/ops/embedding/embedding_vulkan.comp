// SPDX-License-Identifier: Apache-2.0
// A workgroup a token; see embedding.h. Reads and writes T * hidden elements. In a panel the dwords
// of a row lie 128 bytes apart, so that each costs a sector of memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool kRowMajor = false;

// Bits are copied, whatever they mean.
#if DTYPE == 0
#define BITS uint
const uint kPerDword = 1u;
#else
#define BITS uint16_t
const uint kPerDword = 2u;
#endif

layout(binding = 0) readonly buffer I { int ids[]; };
layout(binding = 1) readonly buffer W { BITS table[]; };
layout(binding = 2) writeonly buffer O { BITS out_rows[]; };

layout(push_constant) uniform Push {
  uint num_tokens, hidden;
  uint first_row, num_rows;  // of the table, that this dispatch sees
  uint ids_base, table_base;
  uint out_base, out_stride;
};

void main() {
  const uint token = GroupRow();
  if (token >= num_tokens) return;
  // What lies before first_row wraps to a large number.
  const uint row = uint(ids[ids_base + token]) - first_row;
  if (row >= num_rows) return;
  const uint row_dwords = (hidden + kPerDword - 1u) / kPerDword;
  const uint panel = table_base + row / 32u * row_dwords * 32u * kPerDword;
  for (uint k = gl_LocalInvocationID.x; k < hidden; k += 256u) {
    const uint at = kRowMajor ? table_base + row * hidden + k
                              : panel + (k / kPerDword * 32u + row % 32u) * kPerDword + k % kPerDword;
    out_rows[out_base + token * out_stride + k] = table[at];
  }
}
