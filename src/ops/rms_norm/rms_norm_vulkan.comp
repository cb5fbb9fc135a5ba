// SPDX-License-Identifier: Apache-2.0
// A workgroup a row; see rms_norm.h.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/common/numerics.glsl"
#include "ops/common/group_sum.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool kGemma = true;
layout(constant_id = 1) const bool kHasResidual = false;

layout(binding = 0) readonly buffer X { ELEMENT x[]; };
layout(binding = 1) readonly buffer W { float weight[]; };
layout(binding = 2) buffer R { ELEMENT residual[]; };
layout(binding = 3) buffer O { ELEMENT out_rows[]; };

layout(push_constant) uniform Push {
  uint num_rows, n;
  float eps;
  uint x_base, x_stride;
  uint weight_base;
  uint residual_base, residual_stride;
  uint out_base, out_stride;
};

// The row's element with the residual added; an f16 sum is normalised before it is rounded.
float SumAt(uint i) {
  const uint row = GroupRow();
  const float value = FROM_ELEMENT(x[x_base + row * x_stride + i]);
  if (!kHasResidual) return value;
  precise const float sum =
      value + FROM_ELEMENT(residual[residual_base + row * residual_stride + i]);
#if DTYPE == 1
  return sum;
#else
  return Round(sum);
#endif
}

void main() {
  const uint row = GroupRow();
  if (row >= num_rows) return;
  GROUP_SUM_OF_SQUARES(squares, n, SumAt)
  precise const float mean = squares / float(n);
  precise const float inverse = 1.0 / sqrt(mean + eps);
  for (uint i = gl_LocalInvocationID.x; i < n; i += 256u) {
    const float s = SumAt(i);
    precise const float y = s * inverse;
    const float w = weight[weight_base + i];
    precise const float scaled = kGemma ? y * (1.0 + w) : Round(y) * w;
    // In this order: out may be x.
    if (kHasResidual) residual[residual_base + row * residual_stride + i] = TO_ELEMENT(s);
    out_rows[out_base + row * out_stride + i] = TO_ELEMENT(scaled);
  }
}
