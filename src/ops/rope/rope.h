// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding, in place, on the first rotary_dim dims of each head (NeoX pairs).
//
// (x[i], x[i + h]) -> (x[i] cos - x[i + h] sin, x[i + h] cos + x[i] sin), h = rotary_dim / 2, f32
// inside, one rounding to D; the other dims pass. frequency_i = f32(1 / theta^(2i / rotary_dim)),
// angle = f32(position * frequency), both rounded to f32 before cos and sin. Text-only mRoPE is
// this. Source: docs/numerics.md (vLLM RotaryEmbedding).
#pragma once

#include <span>

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

// Fills table [positions, rotary_dim] f32: cos of the h angles of each position, then their sin.
// Allocates: for load time.
void FillRopeTable(const ExecContext& ctx, double theta, const Tensor& table);

struct RopeArgs {
  ConstTensor table;                   // [P, rotary_dim] f32, from FillRopeTable
  std::span<const int32_t> positions;  // [T], each in [0, P)
  Tensor x;                            // [T, heads, D >= rotary_dim] f32, f16 or bf16, in and out;
                                       // tokens and heads may be strided
};

// Errors: kInvalidArgument for shapes, dtypes, heads that share elements, and a position outside
// the table.
Status Rope(const ExecContext& ctx, const RopeArgs& args);

}  // namespace gdn
