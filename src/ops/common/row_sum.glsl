// SPDX-License-Identifier: Apache-2.0
// Sums of rows by sixteen invocations a row, in the order of the scalar references: sixteen partial
// sums by index mod 16, folded in halves.
#ifndef GDN_OPS_COMMON_ROW_SUM_GLSL_
#define GDN_OPS_COMMON_ROW_SUM_GLSL_

shared float row_partials[2][256];

// The sum of partial over the sixteen invocations of a row, for all of them. A call and the next
// need different values of part, 0 or 1: one barrier each is enough then.
float RowSum(uint part, float partial) {
  const uint self = gl_LocalInvocationID.x;
  row_partials[part][self] = partial;
  barrier();
  const uint row = self & ~15u;
  precise float sums[8];
  [[unroll]] for (uint i = 0u; i < 8u; ++i) {
    sums[i] = row_partials[part][row + i] + row_partials[part][row + i + 8u];
  }
  [[unroll]] for (uint i = 0u; i < 4u; ++i) sums[i] += sums[i + 4u];
  precise const float low = sums[0] + sums[2];
  precise const float high = sums[1] + sums[3];
  precise const float total = low + high;
  return total;
}

#endif  // GDN_OPS_COMMON_ROW_SUM_GLSL_
