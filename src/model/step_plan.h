// SPDX-License-Identifier: Apache-2.0
// What every layer of a step needs to know of its batch, worked out once.
#pragma once

#include <vector>

#include "model/batch.h"
#include "ops/attention/attention.h"

namespace gdn {

// The batch split in its decode sequences (first) and its prefill sequences.
class StepPlan {
 public:
  // Reserves for the largest batch, so that Build allocates nothing.
  explicit StepPlan(const RunLimits& limits);

  // Checks the batch against the limits and the vocabulary. The batch must outlive its use.
  Status Build(const Batch& batch, int64_t vocab_size);

  const Batch& batch() const { return batch_; }
  int64_t num_tokens() const { return batch_.num_tokens(); }
  int64_t num_seqs() const { return batch_.num_seqs(); }
  int64_t num_decode_tokens() const { return num_decode_tokens_; }
  int64_t num_prefill_tokens() const { return num_tokens() - num_decode_tokens_; }

  std::span<const uint8_t> has_initial_state() const { return has_initial_state_; }  // [N]
  PagedIndex paged_index() const;

  // A run of sequences of one form, as the state ops take it: cu_seqlens starts at 0.
  struct Part {
    std::span<const int32_t> cu_seqlens;
    std::span<const int32_t> state_slots;
    std::span<const uint8_t> has_initial_state;
  };
  Part decode_part() const;
  Part prefill_part() const;

 private:
  Status CheckSizes(int64_t vocab_size) const;
  Status CheckSequence(int64_t n) const;

  RunLimits limits_;
  Batch batch_;
  int64_t num_decode_seqs_ = 0;
  int64_t num_decode_tokens_ = 0;
  std::vector<uint8_t> has_initial_state_;
  std::vector<int32_t> prefill_cu_seqlens_;
};

}  // namespace gdn
