// SPDX-License-Identifier: Apache-2.0
// The sum over a row that a workgroup of 256 has to itself, in the order of the scalar references
// (row_sum.h): sixteen partial sums by index mod 16, without fma, folded in halves. Memory is read
// by all invocations; the chains of additions, by sixteen, go over shared memory.
#ifndef GDN_OPS_COMMON_GROUP_SUM_GLSL_
#define GDN_OPS_COMMON_GROUP_SUM_GLSL_

#include "ops/common/numerics.glsl"

const uint kStage = 1024u;
shared float stage[kStage];
shared float stage_sums[16];

// partial and the first count elements of stage. For all invocations, stage written before.
float AddStage(float partial, uint count) {
  barrier();
  precise float sum = partial;
  if (gl_LocalInvocationID.x < 16u) {
    for (uint i = gl_LocalInvocationID.x; i < count; i += 16u) sum += stage[i];
  }
  barrier();
  return sum;
}

float FoldStages(float partial) {
  if (gl_LocalInvocationID.x < 16u) stage_sums[gl_LocalInvocationID.x] = partial;
  barrier();
  float partials[16];
  [[unroll]] for (uint i = 0u; i < 16u; ++i) partials[i] = stage_sums[i];
  return FoldSums(partials);
}

// total = the sum of ValueAt(i)^2 over i < n.
#define GROUP_SUM_OF_SQUARES(total, n, ValueAt)                            \
  float partial = 0.0;                                                     \
  for (uint first = 0u; first < (n); first += kStage) {                    \
    const uint count = min(kStage, (n) - first);                           \
    for (uint i = gl_LocalInvocationID.x; i < count; i += 256u) {          \
      const float value = ValueAt(first + i);                              \
      precise const float square = value * value;                          \
      stage[i] = square;                                                   \
    }                                                                      \
    partial = AddStage(partial, count);                                    \
  }                                                                        \
  const float total = FoldStages(partial);

#endif  // GDN_OPS_COMMON_GROUP_SUM_GLSL_
