// SPDX-License-Identifier: Apache-2.0
// One step of a model: packed tokens of any number of sequences.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"

namespace gdn {

// The form in which a sequence's tokens of this step are computed. A prompt token always takes the
// prefill form and a generated token the decode form, whatever the slice and the batch mates.
enum class SequenceForm : uint8_t { kPrefill, kDecode };

struct Batch {
  std::span<const int32_t> tokens;      // [T]
  std::span<const int32_t> positions;   // [T] of each token in its sequence, ascending by one
  std::span<const int32_t> cu_seqlens;  // [N+1] first token of each sequence, then T
  // [N] row of the conv and recurrent state pools; <= 0 is null: reads zeros, writes nothing.
  // A sequence whose first position here is 0 starts from zero states, whatever its slot holds.
  std::span<const int32_t> state_slots;
  std::span<const SequenceForm> forms;  // [N] all kDecode sequences come before all kPrefill ones
  std::span<const int32_t>
      block_table;  // [N, max_blocks] KV block of each 64 positions; block 0: null
  int64_t max_blocks = 0;
  std::span<const int32_t> logit_rows;  // [M] indices into tokens, whose logits are wanted
  // [M] 1: of the row's logits only the first largest is wanted; empty: of none (Model::largest()).
  std::span<const uint8_t> wants_largest;

  int64_t num_tokens() const { return static_cast<int64_t>(tokens.size()); }
  int64_t num_seqs() const { return static_cast<int64_t>(state_slots.size()); }
};

// Upper bounds of a batch and sizes of the pools: what memory is planned from.
struct RunLimits {
  int64_t max_tokens = 512;    // T of a step
  int64_t max_seqs = 1;        // N of a step
  int64_t max_logit_rows = 1;  // M of a step
  int64_t num_slots = 2;       // rows of the state pools, the null row 0 included
  int64_t num_blocks = 2;      // KV blocks, the null block 0 included
  int64_t max_positions = 64;  // longest sequence: prompt and generated tokens
};

}  // namespace gdn
