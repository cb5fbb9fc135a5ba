// SPDX-License-Identifier: Apache-2.0
// The sum over a row that a workgroup of 256 has to itself, in the order of the scalar references
// (row_sum.h): sixteen partial sums by index mod 16, without fma, folded in halves. Memory is read
// by all invocations; the chains of additions, by sixteen, go over shared memory.
#ifndef GDN_OPS_COMMON_GROUP_SUM_GLSL_
#define GDN_OPS_COMMON_GROUP_SUM_GLSL_

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
  precise float sums[8];
  [[unroll]] for (uint i = 0u; i < 8u; ++i) sums[i] = stage_sums[i] + stage_sums[i + 8u];
  [[unroll]] for (uint i = 0u; i < 4u; ++i) sums[i] += sums[i + 4u];
  precise const float low = sums[0] + sums[2];
  precise const float high = sums[1] + sums[3];
  precise const float total = low + high;
  return total;
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
