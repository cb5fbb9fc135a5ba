// SPDX-License-Identifier: Apache-2.0
// What shaders share: elements of a dtype (DTYPE 0 f32, 1 f16, 2 bf16), roundings, exp.
//
// Rounding is integer arithmetic: conversions of drivers may round otherwise or flush subnormals.
// Values that bits depend on are declared precise, so that a compiler contracts nothing.
#ifndef GDN_OPS_COMMON_NUMERICS_GLSL_
#define GDN_OPS_COMMON_NUMERICS_GLSL_

#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_control_flow_attributes : enable

// To bf16, to the nearest, ties to even; NaN stays one.
uint Bf16Bits(float x) {
  const uint bits = floatBitsToUint(x);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (bits >> 16) | 0x40u;
  return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}
float Bf16ToF32(uint bits) { return uintBitsToFloat(bits << 16); }

// To f16, to the nearest, ties to even, with subnormals and infinities.
uint F16Bits(float x) {
  const uint bits = floatBitsToUint(x);
  const uint sign = (bits >> 16) & 0x8000u;
  const uint magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return sign | 0x7E00u;
  if (magnitude >= 0x477FF000u) return sign | 0x7C00u;  // 65520 and more
  if (magnitude >= 0x38800000u) {                       // normal
    const uint rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
    return sign | ((rounded - 0x38000000u) >> 13);
  }
  if (magnitude < 0x33000000u) return sign;  // below half the smallest
  const uint shift = 126u - (magnitude >> 23);
  const uint mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
  const uint kept = mantissa >> shift;
  const uint rest = mantissa & ((1u << shift) - 1u);
  const uint half_step = 1u << (shift - 1u);
  return sign | (kept + uint(rest > half_step || (rest == half_step && (kept & 1u) == 1u)));
}
// Without a branch: it stands in inner loops.
float F16ToF32(uint bits) {
  const uint magnitude = bits & 0x7FFFu;
  const uint normal = (magnitude << 13) + (magnitude >= 0x7C00u ? 0x70000000u : 0x38000000u);
  const uint subnormal = floatBitsToUint(float(magnitude) * 5.9604644775390625e-8);  // 2^-24
  return uintBitsToFloat(((bits & 0x8000u) << 16) | (magnitude < 0x400u ? subnormal : normal));
}

// A 16-bit element may only be read from a buffer and written to one, so these two are macros.
#if DTYPE == 0
#define ELEMENT float
#define FROM_ELEMENT(e) (e)
#define TO_ELEMENT(x) (x)
float Round(float x) { return x; }
#elif DTYPE == 1
#define ELEMENT uint16_t
#define FROM_ELEMENT(e) F16ToF32(uint(e))
#define TO_ELEMENT(x) uint16_t(F16Bits(x))
float Round(float x) { return F16ToF32(F16Bits(x)); }
#else
#define ELEMENT uint16_t
#define FROM_ELEMENT(e) Bf16ToF32(uint(e))
#define TO_ELEMENT(x) uint16_t(Bf16Bits(x))
float Round(float x) { return Bf16ToF32(Bf16Bits(x)); }
#endif

// The element of a 16-bit dtype in half of a dword.
float FromHalf(uint dword, uint half_index) {
  const uint bits = half_index == 0u ? dword & 0xFFFFu : dword >> 16;
#if DTYPE == 1
  return F16ToF32(bits);
#else
  return Bf16ToF32(bits);
#endif
}

// exp and log with the bits of scalar_math.h, which explains the steps, whatever the driver's own
// have. No fma: precise does not reach it, and drivers may round it once or twice.
float Exp(float x) {
  if (isnan(x)) return x;
  if (x > 88.72284) return uintBitsToFloat(0x7F800000u);
  if (x < -103.97208) return 0.0;
  precise const float n = roundEven(x * 1.44269504);
  precise const float high = x - n * 0.693359375;
  precise const float r = high + n * 2.12194440e-4;
  precise float p = 1.9841270e-4;
  p = p * r + 1.3888889e-3;
  p = p * r + 8.3333333e-3;
  p = p * r + 4.1666667e-2;
  p = p * r + 1.6666667e-1;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const int whole = int(n);
  const int first = whole / 2;
  precise const float scaled = p * uintBitsToFloat(uint(first + 127) << 23);
  precise const float out_value = scaled * uintBitsToFloat(uint(whole - first + 127) << 23);
  return out_value;
}

float Log(float x) {
  const uint bits = floatBitsToUint(x);
  if (bits >= 0x7F800000u) return x;
  const uint above = bits - 0x3F3504F3u;
  const float n = float(int(above) >> 23);
  precise const float f = uintBitsToFloat((above & 0x7FFFFFu) + 0x3F3504F3u) - 1.0;
  precise const float s = f / (2.0 + f);
  precise const float z = s * s;
  precise float series = 0.18181819;
  series = series * z + 0.22222222;
  series = series * z + 0.2857143;
  series = series * z + 0.4;
  series = series * z + 0.6666667;
  precise const float half_square = 0.5 * f * f;
  precise const float rest = s * (half_square + series * z) + n * -2.12194440e-4;
  precise const float out_value = n * 0.693359375 + (f - (half_square - rest));
  return out_value;
}

float Sigmoid(float x) {
  precise const float out_value = 1.0 / (1.0 + Exp(-x));
  return out_value;
}

float Silu(float x) {
  precise const float out_value = x / (1.0 + Exp(-x));
  return out_value;
}

// Sixteen partial sums folded in halves, as AddPartialSums of row_sum.h.
float FoldSums(float partial[16]) {
  precise float sums[8];
  [[unroll]] for (uint i = 0u; i < 8u; ++i) sums[i] = partial[i] + partial[i + 8u];
  [[unroll]] for (uint i = 0u; i < 4u; ++i) sums[i] += sums[i + 4u];
  precise const float low = sums[0] + sums[2];
  precise const float high = sums[1] + sums[3];
  precise const float total = low + high;
  return total;
}

// The row of a workgroup that RowGroups() (backend/vulkan/operands.h) started; it may be past the last.
uint GroupRow() { return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x; }

#endif  // GDN_OPS_COMMON_NUMERICS_GLSL_
