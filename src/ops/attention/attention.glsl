// SPDX-License-Identifier: Apache-2.0
// What the shaders of attention share: keys are summed in chunks of 256, and how a chunk joins those
// before it, so that one workgroup or many get the same bits.
#ifndef GDN_OPS_ATTENTION_ATTENTION_GLSL_
#define GDN_OPS_ATTENTION_ATTENTION_GLSL_

#include "ops/common/numerics.glsl"

const uint kBlock = 64u;  // keys of a block of the cache
const uint kChunk = 256u;

float MinusInfinity() { return uintBitsToFloat(0xFF800000u); }

// What the sums before (x) and of a chunk (y) are multiplied by, for the greatest score so far.
vec2 MergeFactors(float total_max, float chunk_max) {
  const float new_max = max(total_max, chunk_max);
  return vec2(Exp(total_max - new_max), Exp(chunk_max - new_max));
}

float Merge(float total, float chunk, vec2 factors) {
  precise const float merged = total * factors.x + chunk * factors.y;
  return merged;
}

#endif  // GDN_OPS_ATTENTION_ATTENTION_GLSL_
