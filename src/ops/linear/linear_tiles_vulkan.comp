// SPDX-License-Identifier: Apache-2.0
// A linear layer of many rows: a workgroup computes a tile of 16 * kRows rows and 64 columns, an
// invocation kRows by 4 of them, from 32 k of both matrices in shared memory. kGated: the columns are
// 32 outputs of the gate and the same 32 of up. See linear.glsl.
//
// Bytes: the weights once a tile of rows, x once a tile of columns, the outputs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/linear/linear.glsl"

const uint kTileK = 32u;
const uint kCols = 4u;
const uint kTileCols = 16u * kCols;
const uint kTileRows = 16u * kRows;
const uint kPitch = kTileK + 1u;  // keeps columns of inputs in different banks

shared float inputs[kTileRows * kPitch];
shared float weights[kTileK * kTileCols];

float sums[kRows * kCols];    // of the slice of k
float totals[kRows * kCols];  // of the slices before

// What lies outside of the matrices is 0, or another row that nothing is stored of.
void LoadInputs(uint first_row, uint first_k) {
  for (uint i = gl_LocalInvocationID.x; i < kTileRows * kTileK / 2u; i += 256u) {
    const uint row = i / (kTileK / 2u);
    const uint k = 2u * (i % (kTileK / 2u));
    vec2 a = vec2(0.0);
    if (first_k + k < num_inputs) {
      a = InputPair(min(first_row + row, num_rows - 1u), first_k + k, first_k + k + 1u < num_inputs);
    }
    inputs[row * kPitch + k] = a.x;
    inputs[row * kPitch + k + 1u] = a.y;
  }
}

void LoadWeights(uint first_n, uint first_k) {
  for (uint i = gl_LocalInvocationID.x; i < kTileK / 2u * kTileCols; i += 256u) {
    // Neighbours read neighbours: columns of a panel, k of a row.
    const uint col = kRowMajor ? i / (kTileK / 2u) : i % kTileCols;
    const uint k = 2u * (kRowMajor ? i % (kTileK / 2u) : i / kTileCols);
    const bool is_up = kGated && col >= kTileCols / 2u;
    const uint n = min(first_n + (is_up ? col - kTileCols / 2u : col), num_outputs - 1u);
    vec2 w = vec2(0.0);
    if (first_k + k < num_inputs) {
      w = WeightPair(is_up, n, first_k + k, first_k + k + 1u < num_inputs);
    }
    weights[k * kTileCols + col] = w.x;
    weights[(k + 1u) * kTileCols + col] = w.y;
  }
}

void main() {
  const uint first_row = gl_WorkGroupID.y * kTileRows;
  const uint first_n = gl_WorkGroupID.x * (kGated ? kTileCols / 2u : kTileCols);
  const uint my_row = gl_LocalInvocationID.x / 16u;  // and every 16th after it
  const uint my_col = gl_LocalInvocationID.x % 16u;
  for (uint i = 0u; i < kRows * kCols; ++i) {
    sums[i] = 0.0;
    totals[i] = 0.0;
  }
  for (uint first_k = 0u; first_k < num_inputs; first_k += kTileK) {
    LoadInputs(first_row, first_k);
    LoadWeights(first_n, first_k);
    barrier();
    for (uint k = 0u; k < kTileK; ++k) {
      float w[kCols];
      [[unroll]] for (uint c = 0u; c < kCols; ++c) w[c] = weights[k * kTileCols + my_col + 16u * c];
      [[unroll]] for (uint r = 0u; r < kRows; ++r) {
        const float a = inputs[(my_row + 16u * r) * kPitch + k];
        [[unroll]] for (uint c = 0u; c < kCols; ++c) {
          sums[r * kCols + c] = fma(a, w[c], sums[r * kCols + c]);
        }
      }
    }
    barrier();
    const uint next_k = first_k + kTileK;
    if (next_k % slice_k != 0u && next_k < num_inputs) continue;
    [[unroll]] for (uint i = 0u; i < kRows * kCols; ++i) {
      precise const float total = totals[i] + sums[i];
      totals[i] = total;
      sums[i] = 0.0;
    }
  }
  [[unroll]] for (uint r = 0u; r < kRows; ++r) {
    const uint row = first_row + my_row + 16u * r;
    if (row >= num_rows) continue;
    [[unroll]] for (uint c = 0u; c < (kGated ? kCols / 2u : kCols); ++c) {
      const uint n = first_n + my_col + 16u * c;
      if (n >= num_outputs) continue;
      const float total = totals[r * kCols + c];
      Store(row, n, kGated ? SiluAndMul(total, totals[r * kCols + kCols / 2u + c]) : total);
    }
  }
}
