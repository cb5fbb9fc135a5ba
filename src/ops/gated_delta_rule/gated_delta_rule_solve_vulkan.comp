// SPDX-License-Identifier: Apache-2.0
// solve_tril of README.md: T = (I + A)^-1 by 16 x 16 blocks, in shared memory, then rounded. A
// workgroup a chunk of a value head. It reads and writes 64 x 64 elements.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "ops/gated_delta_rule/chunk.glsl"

layout(binding = 3) readonly buffer A { float a[]; };
layout(binding = 4) writeonly buffer T { ELEMENT t[]; };

// The blocks of A, then those of T, on and below the diagonal, then three for products.
const uint kBlocks = 10u;
shared float blocks[(2 * 10 + 3) * 256];

uint A_(uint i, uint j) { return (i * (i + 1u) / 2u + j) * 256u; }
uint T_(uint i, uint j) { return A_(i, j) + kBlocks * 256u; }
uint Product_(uint j) { return (2u * kBlocks + j) * 256u; }

// The invocation's element of left * right.
float Multiply(uint left, uint right) {
  const uint row = left + gl_LocalInvocationID.x / 16u * 16u;
  const uint column = right + gl_LocalInvocationID.x % 16u;
  precise float sum = 0.0;
  for (uint m = 0u; m < 16u; ++m) sum = fma(blocks[row + m], blocks[column + m * 16u], sum);
  return sum;
}

// Forward substitution in column c of diagonal block b. The identity is added last: the
// substitution must not see it.
void InvertDiagonal(uint b, uint c) {
  const uint from = A_(b, b);
  const uint to = T_(b, b) + c;
  for (uint i = 0u; i < 16u; ++i) {
    precise float sum = 0.0;
    for (uint m = 0u; m < i; ++m) {
      precise const float minus_a = 0.0 - blocks[from + i * 16u + m];
      sum = fma(minus_a, blocks[to + m * 16u], sum);
    }
    precise const float minus_a = c < i ? 0.0 - blocks[from + i * 16u + c] : 0.0;
    precise const float element = minus_a + sum;
    blocks[to + i * 16u] = element;
  }
  blocks[to + c * 16u] = 1.0;
}

void main() {
  const uint head = gl_WorkGroupID.x;
  const uint number = gl_WorkGroupID.y;
  const uint self = gl_LocalInvocationID.x;
  const uint a_at = FloatsAt(number, head, kChunk * kChunk);
  for (uint e = self; e < kChunk * kChunk; e += 256u) {
    const uint i = e / kChunk;
    const uint j = e % kChunk;
    if (j / 16u <= i / 16u) blocks[A_(i / 16u, j / 16u) + i % 16u * 16u + j % 16u] = a[a_at + e];
  }
  barrier();
  if (self < kChunk) InvertDiagonal(self / 16u, self % 16u);
  barrier();
  for (uint distance = 1u; distance < 4u; ++distance) {
    for (uint j = 0u; j + distance < 4u; ++j) {
      const uint i = j + distance;
      precise float sum = 0.0;
      if (distance == 1u) {
        sum = Multiply(T_(i, i), A_(i, j));
      } else {
        for (uint m = j; m < i; ++m) sum += Multiply(A_(i, m), T_(m, j));
      }
      blocks[Product_(j) + self] = sum;
    }
    barrier();
    for (uint j = 0u; j + distance < 4u; ++j) {
      const uint i = j + distance;
      const bool is_left = distance == 1u;
      precise const float element =
          0.0 - (is_left ? Multiply(Product_(j), T_(j, j)) : Multiply(T_(i, i), Product_(j)));
      blocks[T_(i, j) + self] = element;
    }
    barrier();
  }
  const uint t_at = ElementsAt(number, head, kChunk * kChunk);
  for (uint e = self; e < kChunk * kChunk; e += 256u) {
    const uint i = e / kChunk;
    const uint j = e % kChunk;
    const float element =
        j > i ? 0.0 : blocks[T_(i / 16u, j / 16u) + i % 16u * 16u + j % 16u];
    t[t_at + e] = TO_ELEMENT(element);
  }
}
