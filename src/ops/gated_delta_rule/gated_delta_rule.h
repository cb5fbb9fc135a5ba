// SPDX-License-Identifier: Apache-2.0
// The gated delta rule over packed sequences, in its two forms.
//
// For S [V, K] per value head: S_t = a_t S_{t-1} (I - b_t k_t k_t^T) + b_t v_t k_t^T, o_t = scale
// S_t q_t, with a_t = exp(log_decay_t), b_t = beta_t. Value head hv reads key head KeyHeadOf(hv).
//   Recurrent: one token at a time in f32: S *= a; d = (v - S k) * b; S += d k^T; o = S (q *
//   scale). Blocked: the same in f32, four tokens a pass over S, for prompts. Chunk: the WY form
//   over chunks of 64 tokens with the reference's rounding points to D
//   (ops/gated_delta_rule/README.md lists them); with D = f32 nothing is rounded.
// Sources: Yang, Kautz, Hatamizadeh 2024 "Gated Delta Networks", arXiv 2412.06464, section 3;
// rounding points: docs/numerics.md (vLLM chunk_gated_delta_rule,
// fused_recurrent_gated_delta_rule).
#pragma once

#include <span>

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

inline constexpr int64_t kChunkSize = 64;
inline constexpr int64_t kRuleBlock = 4;  // tokens of a block of the blocked recurrence

// Grouped: value heads r*h .. r*h + r-1 read key head h, r = HV / H.
constexpr int64_t KeyHeadOf(int64_t value_head, int64_t num_key_heads, int64_t num_value_heads) {
  return value_head / (num_value_heads / num_key_heads);
}

// How the f32 operand k * beta of the k k^T product enters it: kTf32 drops the low 13 bits of the
// mantissa (the reference on NVIDIA), kIeee keeps all (the reference on AMD). D = f32: always
// kIeee.
enum class KktOperand : uint8_t { kTf32, kIeee };

struct GatedDeltaRuleArgs {
  ConstTensor q;          // [T, H, K] after l2norm; chunk: D. recurrent: D or f32. Rows of q, k
  ConstTensor k;          // [T, H, K] like q                        and v may be strided
  ConstTensor v;          // [T, HV, V] D: f32, f16 or bf16
  ConstTensor log_decay;  // [T, HV] f32, natural log, <= 0
  ConstTensor beta;       // [T, HV] f32
  Tensor state;           // [slots, HV, V, K] f32, K innermost, in and out; contiguous inside a
                          // slot. recurrent: f32 or D, rounded to D once a call, at the store
  std::span<const int32_t> cu_seqlens;         // [N+1]; empty sequences change nothing
  std::span<const int32_t> state_slots;        // [N] unique; <= 0: null, its rows of out become 0
  std::span<const uint8_t> has_initial_state;  // [N]; 0: starts from a zero state
  float scale = 0;                             // K^-0.5 in all known models
  KktOperand kkt_operand = KktOperand::kTf32;  // chunk form only
  Tensor out;                                  // [T, HV, V] D, contiguous; aliases nothing
};

// K, V in 1..256, HV a multiple of H. Chunks start at the first token of each sequence of this
// call, so a call may be split at multiples of 64 without changing a bit. ctx: scratch; pool, on
// the CPU. Errors: kInvalidArgument for shapes, dtypes, slots, cu_seqlens, overlaps and too small a
// scratch. Not checked: log_decay <= 0 and finite; unit rows of q and k.
Status GatedDeltaRuleRecurrent(const ExecContext& ctx, const GatedDeltaRuleArgs& args);
Status GatedDeltaRuleChunk(const ExecContext& ctx, const GatedDeltaRuleArgs& args);
// Blocks of kRuleBlock tokens start at the first token of each sequence of this call: a split at
// their multiples changes no bit. q and k: D; state: f32.
Status GatedDeltaRuleBlocked(const ExecContext& ctx, const GatedDeltaRuleArgs& args);

// Bytes of ctx.scratch that any form needs on the CPU for heads of these sizes, whatever the batch.
size_t GatedDeltaRuleScratchBytes(int64_t k_dim, int64_t v_dim, int num_threads);

// Bytes of ctx.scratch, memory of the device, with which the chunk form runs batches of max_tokens
// on another device in as few passes as it can. With less, down to what one chunk takes, it makes
// more of them, of the same bits. The other forms need none there.
size_t GatedDeltaRuleDeviceScratchBytes(DType dtype, int64_t num_value_heads, int64_t k_dim,
                                        int64_t v_dim, int64_t max_tokens);

}  // namespace gdn
