// SPDX-License-Identifier: Apache-2.0
// Packs the scheduled tokens of sequences into the Batch of a step.
#pragma once

#include <vector>

#include "engine/sequence.h"
#include "model/batch.h"

namespace gdn {

class StepBatch {
 public:
  // Reserves for the largest step, so that Add allocates nothing.
  explicit StepBatch(const RunLimits& limits);

  void Clear();
  // Appends num_scheduled_tokens of the sequence from num_computed_tokens on; its last token wants
  // logits where no known token follows it. Decodes must be added before prefills.
  void Add(Sequence& sequence);

  Batch batch() const;
  bool empty() const { return tokens_.empty(); }
  // [N] sequences in the order of the batch, and the row of logits of each, or -1.
  std::span<Sequence* const> sequences() const { return sequences_; }
  std::span<const int64_t> logit_index() const { return logit_index_; }

 private:
  int64_t max_blocks_;
  std::vector<int32_t> tokens_;
  std::vector<int32_t> positions_;
  std::vector<int32_t> cu_seqlens_;
  std::vector<int32_t> state_slots_;
  std::vector<SequenceForm> forms_;
  std::vector<int32_t> block_table_;
  std::vector<int32_t> logit_rows_;
  std::vector<uint8_t> wants_largest_;
  std::vector<Sequence*> sequences_;
  std::vector<int64_t> logit_index_;
};

}  // namespace gdn
