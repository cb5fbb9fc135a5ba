// SPDX-License-Identifier: Apache-2.0
#include "model/step_plan.h"

#include <algorithm>

#include "base/str.h"
#include "ops/common/validate.h"

namespace gdn {
namespace {

int64_t Size(const auto& span) { return static_cast<int64_t>(span.size()); }

Status TooMany(const char* what, int64_t count, int64_t limit) {
  return InvalidArgument(StrCat("batch: ", count, " ", what, ", want at most ", limit));
}

}  // namespace

StepPlan::StepPlan(const RunLimits& limits) : limits_(limits) {
  has_initial_state_.reserve(static_cast<size_t>(limits.max_seqs));
  prefill_cu_seqlens_.reserve(static_cast<size_t>(limits.max_seqs) + 1);
}

Status StepPlan::CheckSizes(int64_t vocab_size) const {
  const Batch& b = batch_;
  if (b.num_tokens() > limits_.max_tokens) {
    return TooMany("tokens", b.num_tokens(), limits_.max_tokens);
  }
  if (b.num_seqs() > limits_.max_seqs) {
    return TooMany("sequences", b.num_seqs(), limits_.max_seqs);
  }
  if (Size(b.logit_rows) > limits_.max_logit_rows) {
    return TooMany("logit rows", Size(b.logit_rows), limits_.max_logit_rows);
  }
  if (b.positions.size() != b.tokens.size() || Size(b.cu_seqlens) != b.num_seqs() + 1 ||
      Size(b.forms) != b.num_seqs() || Size(b.block_table) != b.num_seqs() * b.max_blocks) {
    return InvalidArgument("batch: positions, cu_seqlens, forms or block_table of another size");
  }
  if (!b.wants_largest.empty() && b.wants_largest.size() != b.logit_rows.size()) {
    return InvalidArgument(StrCat("batch: wants_largest is [", b.wants_largest.size(),
                                  "], want [M=", b.logit_rows.size(), "]"));
  }
  GDN_RETURN_IF_ERROR(CheckCuSeqlens("batch", b.cu_seqlens, b.num_tokens()));
  GDN_RETURN_IF_ERROR(CheckStateSlots("batch", b.state_slots, b.num_seqs(), limits_.num_slots));
  for (const int32_t row : b.logit_rows) {
    if (row < 0 || row >= b.num_tokens()) {
      return InvalidArgument(
          StrCat("batch: logit row ", row, ", want one of ", b.num_tokens(), " tokens"));
    }
  }
  for (const int32_t token : b.tokens) {
    if (token < 0 || token >= vocab_size) {
      return InvalidArgument(StrCat("batch: token ", token, ", want below ", vocab_size));
    }
  }
  return OkStatus();
}

Status StepPlan::CheckSequence(int64_t n) const {
  const auto row = static_cast<size_t>(n);
  const int32_t first = batch_.cu_seqlens[row];
  const int32_t last = batch_.cu_seqlens[row + 1];
  for (int32_t t = first; t < last; ++t) {
    const int32_t position = batch_.positions[static_cast<size_t>(t)];
    const int32_t start = batch_.positions[static_cast<size_t>(first)];
    if (start < 0 || position != start + (t - first) || position >= limits_.max_positions ||
        position >= batch_.max_blocks * kKvBlockSize) {
      return InvalidArgument(StrCat("batch: position ", position, " of token ", t,
                                    ", want consecutive ones below ", limits_.max_positions));
    }
  }
  if (n > 0 && batch_.forms[row] == SequenceForm::kDecode &&
      batch_.forms[row - 1] == SequenceForm::kPrefill) {
    return InvalidArgument("batch: a decode sequence after a prefill one, want decodes first");
  }
  return OkStatus();
}

Status StepPlan::Build(const Batch& batch, int64_t vocab_size) {
  batch_ = batch;
  GDN_RETURN_IF_ERROR(CheckSizes(vocab_size));
  has_initial_state_.clear();
  prefill_cu_seqlens_.clear();
  num_decode_seqs_ = std::ranges::count(batch.forms, SequenceForm::kDecode);
  num_decode_tokens_ = batch.cu_seqlens[static_cast<size_t>(num_decode_seqs_)];
  for (int64_t n = 0; n < num_seqs(); ++n) {
    GDN_RETURN_IF_ERROR(CheckSequence(n));
    const auto first = static_cast<size_t>(batch.cu_seqlens[static_cast<size_t>(n)]);
    has_initial_state_.push_back(first < batch.positions.size() && batch.positions[first] > 0);
  }
  for (int64_t n = num_decode_seqs_; n <= num_seqs(); ++n) {
    prefill_cu_seqlens_.push_back(batch.cu_seqlens[static_cast<size_t>(n)] -
                                  static_cast<int32_t>(num_decode_tokens_));
  }
  return OkStatus();
}

PagedIndex StepPlan::paged_index() const {
  return {batch_.positions, batch_.cu_seqlens, batch_.block_table, batch_.max_blocks};
}

StepPlan::Part StepPlan::decode_part() const {
  const auto count = static_cast<size_t>(num_decode_seqs_);
  return {batch_.cu_seqlens.first(count + 1), batch_.state_slots.first(count),
          has_initial_state().first(count)};
}

StepPlan::Part StepPlan::prefill_part() const {
  const auto skip = static_cast<size_t>(num_decode_seqs_);
  return {prefill_cu_seqlens_, batch_.state_slots.subspan(skip), has_initial_state().subspan(skip)};
}

}  // namespace gdn
