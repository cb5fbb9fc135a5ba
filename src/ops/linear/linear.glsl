// SPDX-License-Identifier: Apache-2.0
// What the two shaders of a linear layer share: its operands, and the sum that an output is.
//
// k is cut into at most 8 slices of slice_k, a multiple of 32 that depends on K alone. A slice is
// summed with k ascending, one accumulator and fma; then the slices are added in order, from 0. So
// an output has the same bits in both shaders, whatever M is.
#ifndef GDN_OPS_LINEAR_LINEAR_GLSL_
#define GDN_OPS_LINEAR_LINEAR_GLSL_

#include "ops/common/numerics.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool kRowMajor = false;
layout(constant_id = 1) const bool kGated = false;  // linear_silu_and_mul
layout(constant_id = 2) const uint kOut = 0u;       // 0: elements, 1: f32 of elements, 2: f32
layout(constant_id = 3) const uint kRows = 1u;      // of x, an invocation

layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) readonly buffer W { uint weight[]; };
layout(binding = 2) readonly buffer U { uint up[]; };  // kGated: weight is the gate
layout(binding = 3) writeonly buffer O { ELEMENT out_elements[]; };
layout(binding = 3) writeonly buffer F { float out_floats[]; };

layout(push_constant) uniform Push {
  uint num_rows, num_outputs, num_inputs, slice_k;
  uint x_base, x_stride;
  uint weight_base, up_base;  // panels: in dwords; rows: in elements
  uint out_base, out_stride;
};

uint Dword(bool is_up, uint index) {
  return kGated && is_up ? up[up_base + index] : weight[weight_base + index];
}

// Of a row-major matrix, whose rows may begin inside a dword.
float RowElement(bool is_up, uint index) {
#if DTYPE == 0
  return uintBitsToFloat(Dword(is_up, index));
#else
  const uint at = index + (is_up ? up_base : weight_base);
  return FromHalf(kGated && is_up ? up[at / 2u] : weight[at / 2u], at % 2u);
#endif
}

// Elements k (even) and, where there is one, k + 1 of a row of weights and of a row of x.
vec2 WeightPair(bool is_up, uint n, uint k, bool is_whole) {
  if (kRowMajor) {
    const uint at = n * num_inputs + k;
    return vec2(RowElement(is_up, at), is_whole ? RowElement(is_up, at + 1u) : 0.0);
  }
#if DTYPE == 0
  const uint at = n / 32u * 32u * num_inputs + k * 32u + n % 32u;
  return vec2(uintBitsToFloat(Dword(is_up, at)),
              is_whole ? uintBitsToFloat(Dword(is_up, at + 32u)) : 0.0);
#else
  const uint row_dwords = (num_inputs + 1u) / 2u;
  const uint dword = Dword(is_up, n / 32u * 32u * row_dwords + k / 2u * 32u + n % 32u);
  return vec2(FromHalf(dword, 0u), FromHalf(dword, 1u));
#endif
}

vec2 InputPair(uint row, uint k, bool is_whole) {
  const uint at = x_base + row * x_stride + k;
  return vec2(FROM_ELEMENT(x[at]), is_whole ? FROM_ELEMENT(x[at + 1u]) : 0.0);
}

float SiluAndMul(float gate, float up_value) {
  precise const float product = Round(Silu(Round(gate))) * Round(up_value);
  return product;
}

void Store(uint row, uint n, float value) {
  const uint at = out_base + row * out_stride + n;
  if (kOut == 0u) {
    out_elements[at] = TO_ELEMENT(value);
  } else {
    out_floats[at] = kOut == 1u ? Round(value) : value;
  }
}

#endif  // GDN_OPS_LINEAR_LINEAR_GLSL_
