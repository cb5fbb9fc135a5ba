// SPDX-License-Identifier: Apache-2.0
#include "engine/step_batch.h"

#include "ops/attention/attention.h"

namespace gdn {

StepBatch::StepBatch(const RunLimits& limits)
    : max_blocks_((limits.max_positions + kKvBlockSize - 1) / kKvBlockSize) {
  const auto tokens = static_cast<size_t>(limits.max_tokens);
  const auto seqs = static_cast<size_t>(limits.max_seqs);
  tokens_.reserve(tokens);
  positions_.reserve(tokens);
  cu_seqlens_.reserve(seqs + 1);
  state_slots_.reserve(seqs);
  forms_.reserve(seqs);
  block_table_.reserve(seqs * static_cast<size_t>(max_blocks_));
  logit_rows_.reserve(seqs);
  wants_largest_.reserve(seqs);
  sequences_.reserve(seqs);
  logit_index_.reserve(seqs);
  Clear();
}

void StepBatch::Clear() {
  tokens_.clear();
  positions_.clear();
  cu_seqlens_.assign(1, 0);
  state_slots_.clear();
  forms_.clear();
  block_table_.clear();
  logit_rows_.clear();
  wants_largest_.clear();
  sequences_.clear();
  logit_index_.clear();
}

void StepBatch::Add(Sequence& sequence) {
  const int64_t first = sequence.num_computed_tokens;
  const int64_t last = first + sequence.num_scheduled_tokens;
  for (int64_t i = first; i < last; ++i) {
    tokens_.push_back(sequence.tokens[static_cast<size_t>(i)]);
    positions_.push_back(static_cast<int32_t>(i));
  }
  cu_seqlens_.push_back(static_cast<int32_t>(tokens_.size()));
  state_slots_.push_back(sequence.state_slot);
  forms_.push_back(sequence.InPrefill() ? SequenceForm::kPrefill : SequenceForm::kDecode);
  const size_t row_end = block_table_.size() + static_cast<size_t>(max_blocks_);
  block_table_.insert(block_table_.end(), sequence.kv_blocks.begin(), sequence.kv_blocks.end());
  block_table_.resize(row_end, 0);
  sequences_.push_back(&sequence);
  const bool wants_logits = last == sequence.num_tokens();
  logit_index_.push_back(wants_logits ? static_cast<int64_t>(logit_rows_.size()) : -1);
  if (!wants_logits) return;
  logit_rows_.push_back(static_cast<int32_t>(tokens_.size()) - 1);
  wants_largest_.push_back(sequence.WantsLargest() ? 1 : 0);
}

Batch StepBatch::batch() const {
  return {.tokens = tokens_,
          .positions = positions_,
          .cu_seqlens = cu_seqlens_,
          .state_slots = state_slots_,
          .forms = forms_,
          .block_table = block_table_,
          .max_blocks = max_blocks_,
          .logit_rows = logit_rows_,
          .wants_largest = wants_largest_};
}

}  // namespace gdn
