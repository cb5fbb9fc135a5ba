// SPDX-License-Identifier: Apache-2.0
// A linear layer of few rows: a workgroup takes the 32 outputs of a panel, 32 invocations a slice of
// k, and each of them one output of kRows rows. See linear.glsl.
//
// Weights are read once, 128 contiguous bytes a step of 32 invocations; inputs of a step are the same
// for all of these. Bytes: those of the weights, x once a panel (from a cache), the outputs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/linear/linear.glsl"

const uint kSlices = 8u;
// Pairs of k at once: with few rows more reads have to be on their way.
const uint kUnrolled = kRows >= 4u ? 1u : 4u / kRows;

shared float partial[(kGated ? 2u : 1u) * kRows * 256u];

float sums[kRows];
float up_sums[kRows];

// Adds count pairs of k, all of them whole or the only one.
void AddPairs(uint first_row, uint n, uint first_k, const uint count, bool is_whole) {
  vec2 w[kUnrolled];
  vec2 u[kUnrolled];
  [[unroll]] for (uint i = 0u; i < count; ++i) {
    w[i] = WeightPair(false, n, first_k + 2u * i, is_whole);
    if (kGated) u[i] = WeightPair(true, n, first_k + 2u * i, is_whole);
  }
  [[unroll]] for (uint r = 0u; r < kRows; ++r) {
    const uint row = min(first_row + r, num_rows - 1u);
    [[unroll]] for (uint i = 0u; i < count; ++i) {
      const vec2 a = InputPair(row, first_k + 2u * i, is_whole);
      sums[r] = fma(a.y, w[i].y, fma(a.x, w[i].x, sums[r]));
      if (kGated) up_sums[r] = fma(a.y, u[i].y, fma(a.x, u[i].x, up_sums[r]));
    }
  }
}

float Total(uint index) {
  precise float total = 0.0;
  for (uint s = 0u; s < kSlices; ++s) {
    total += partial[index * 256u + s * 32u + gl_LocalInvocationID.x % 32u];
  }
  return total;
}

void main() {
  const uint slice = gl_LocalInvocationID.x / 32u;
  const uint n = gl_WorkGroupID.x * 32u + gl_LocalInvocationID.x % 32u;
  const uint first_row = gl_WorkGroupID.y * kRows;
  [[unroll]] for (uint r = 0u; r < kRows; ++r) {
    sums[r] = 0.0;
    up_sums[r] = 0.0;
  }
  uint k = slice * slice_k;
  const uint end = min(k + slice_k, num_inputs);
  const uint read_n = min(n, num_outputs - 1u);
  for (; k + 2u * kUnrolled <= end; k += 2u * kUnrolled) {
    AddPairs(first_row, read_n, k, kUnrolled, true);
  }
  for (; k < end; k += 2u) AddPairs(first_row, read_n, k, 1u, k + 1u < num_inputs);
  for (uint r = 0u; r < kRows; ++r) {
    partial[r * 256u + gl_LocalInvocationID.x] = sums[r];
    if (kGated) partial[(kRows + r) * 256u + gl_LocalInvocationID.x] = up_sums[r];
  }
  barrier();
  // kRows is at most 8: the invocations of slice r finish row r.
  if (slice < kRows && first_row + slice < num_rows && n < num_outputs) {
    const float total = Total(slice);
    Store(first_row + slice, n, kGated ? SiluAndMul(total, Total(kRows + slice)) : total);
  }
}
