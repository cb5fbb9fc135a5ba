// SPDX-License-Identifier: Apache-2.0
// Sums of rows by sixteen invocations a row, in the order of the scalar references: sixteen partial
// sums by index mod 16, folded in halves.
#ifndef GDN_OPS_COMMON_ROW_SUM_GLSL_
#define GDN_OPS_COMMON_ROW_SUM_GLSL_

#include "ops/common/numerics.glsl"

shared float row_partials[2][256];

// The sum of partial over the sixteen invocations of a row, for all of them. A call and the next
// need different values of part, 0 or 1: one barrier each is enough then.
float RowSum(uint part, float partial) {
  const uint self = gl_LocalInvocationID.x;
  row_partials[part][self] = partial;
  barrier();
  const uint row = self & ~15u;
  float partials[16];
  [[unroll]] for (uint i = 0u; i < 16u; ++i) partials[i] = row_partials[part][row + i];
  return FoldSums(partials);
}

#endif  // GDN_OPS_COMMON_ROW_SUM_GLSL_
