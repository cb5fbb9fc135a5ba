// SPDX-License-Identifier: Apache-2.0
// Causal depthwise convolution over packed sequences, then silu; prefill and decode alike.
//
// y[t, c] = D( silu( sum_{j=0..Kc-1} P(x[t-(Kc-1)+j, c] * w[c, j]) ) ), oldest tap first into an
// f32 accumulator. Taps before the sequence come from its state, or are 0 for a fresh sequence. P:
// f32 inputs use an fma per tap; 16-bit inputs round each product to D (kRounded, the default, as
// the reference reads) or keep it exact (kWide). silu(a) = a / (1 + exp(-a)). Afterwards the state
// holds the last Kc-1 raw inputs, oldest first. Source: docs/numerics.md (vLLM
// causal_conv1d._causal_conv1d_fwd_kernel).
#pragma once

#include <span>

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

enum class ConvProduct { kRounded, kWide };

struct CausalConv1dArgs {
  ConstTensor x;                         // [T, C] D: f32, f16 or bf16; rows may be strided
  ConstTensor weight;                    // [C, Kc] D, Kc in 2..4
  Tensor state;                          // [slots, Kc-1, C] D, in and out; contiguous inside a slot
  std::span<const int32_t> cu_seqlens;   // [N+1]
  std::span<const int32_t> state_slots;  // [N] unique; <= 0: null, its rows become 0
  std::span<const uint8_t> has_initial_state;  // [N]; 0: the state is not read, zeros are
  ConvProduct product = ConvProduct::kRounded;
  Tensor out;  // [T, C] D, contiguous; aliases nothing
};

// ctx: pool, on the CPU. Errors: kInvalidArgument for shapes, dtypes, slots, cu_seqlens and
// overlaps.
Status CausalConv1d(const ExecContext& ctx, const CausalConv1dArgs& args);

}  // namespace gdn
