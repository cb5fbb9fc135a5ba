// SPDX-License-Identifier: Apache-2.0
// Runs a model by hand, step by step, for tests of whole models.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "model/model.h"
#include "ops/attention/attention.h"

namespace gdn {

inline const char* Name(PrefillMode mode) {
  switch (mode) {
    case PrefillMode::kAuto:
      return "auto";
    case PrefillMode::kChunk:
      return "chunk";
    case PrefillMode::kRecurrent:
      return "recurrent";
  }
  return "?";
}
inline void PrintTo(PrefillMode mode, std::ostream* out) { *out << Name(mode); }

// Logits [rows, vocab].
struct TestLogits {
  int64_t vocab = 0;
  std::vector<float> values;

  int64_t rows() const { return vocab == 0 ? 0 : static_cast<int64_t>(values.size()) / vocab; }
  std::span<const float> row(int64_t index) const {
    return std::span(values).subspan(static_cast<size_t>(index * vocab),
                                     static_cast<size_t>(vocab));
  }
};

// A sequence and the rows of the pools that are its own.
struct TestSequence {
  std::vector<int32_t> tokens;
  int32_t slot = 1;
  std::vector<int32_t> blocks;
  int64_t num_computed = 0;
  TestLogits logits;  // of every token computed

  std::span<const int32_t> Next(int64_t count) const {
    return std::span(tokens).subspan(static_cast<size_t>(num_computed), static_cast<size_t>(count));
  }
};

// What a step computes of one sequence.
struct TestSlice {
  TestSequence* sequence = nullptr;
  int64_t num_tokens = 0;
  SequenceForm form = SequenceForm::kPrefill;
};

// The greedy id: ties go to the lower one.
inline int32_t ArgMax(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

inline std::unique_ptr<Model> LoadTestModel(const std::string& dir, const ModelOptions& options,
                                            const RunLimits& limits, ThreadPool& pool) {
  auto model = LoadModel(dir, options, pool, [](size_t, size_t) {});
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return nullptr;
  const Status planned = (*model)->Plan(limits);
  EXPECT_TRUE(planned.ok()) << planned.message();
  return planned.ok() ? std::move(model).value() : nullptr;
}

// Limits for num_seqs sequences of at most max_positions tokens, any number of them and the logits
// of all their tokens in one step.
inline RunLimits TestLimits(int64_t num_seqs, int64_t max_positions) {
  const int64_t blocks = (max_positions + kKvBlockSize - 1) / kKvBlockSize;
  return {.max_tokens = num_seqs * max_positions,
          .max_seqs = num_seqs,
          .max_logit_rows = num_seqs * max_positions,
          .num_slots = num_seqs + 1,
          .num_blocks = num_seqs * blocks + 1,
          .max_positions = max_positions};
}

// Sequence index of those that TestLimits has room for. The blocks of all take turns in the pool,
// so that none is contiguous when there are several.
inline TestSequence MakeTestSequence(const RunLimits& limits, int64_t index,
                                     std::span<const int32_t> tokens) {
  TestSequence out;
  out.tokens.assign(tokens.begin(), tokens.end());
  out.slot = static_cast<int32_t>(1 + index);
  for (int64_t block = 1 + index; block < limits.num_blocks; block += limits.max_seqs) {
    out.blocks.push_back(static_cast<int32_t>(block));
  }
  return out;
}

// One step: decode slices must come before prefill ones. Appends the logits of every token to those
// of its sequence; none where the step failed, which is then a failure of the test.
// wants_largest: as in Batch, one a token.
inline void RunStep(Model& model, const std::vector<TestSlice>& slices,
                    std::span<const uint8_t> wants_largest = {}) {
  std::vector<int32_t> tokens;
  std::vector<int32_t> positions;
  std::vector<int32_t> cu_seqlens = {0};
  std::vector<int32_t> slots;
  std::vector<SequenceForm> forms;
  std::vector<int32_t> block_table;
  std::vector<int32_t> logit_rows;
  size_t max_blocks = 0;
  for (const TestSlice& slice : slices) {
    max_blocks = std::max(max_blocks, slice.sequence->blocks.size());
  }
  for (const TestSlice& slice : slices) {
    TestSequence& sequence = *slice.sequence;
    for (const int32_t token : sequence.Next(slice.num_tokens)) {
      logit_rows.push_back(static_cast<int32_t>(tokens.size()));
      tokens.push_back(token);
      positions.push_back(static_cast<int32_t>(sequence.num_computed++));
    }
    cu_seqlens.push_back(static_cast<int32_t>(tokens.size()));
    slots.push_back(sequence.slot);
    forms.push_back(slice.form);
    const size_t row_end = block_table.size() + max_blocks;
    block_table.insert(block_table.end(), sequence.blocks.begin(), sequence.blocks.end());
    block_table.resize(row_end, 0);
  }
  const auto logits = model.Forward({.tokens = tokens,
                                     .positions = positions,
                                     .cu_seqlens = cu_seqlens,
                                     .state_slots = slots,
                                     .forms = forms,
                                     .block_table = block_table,
                                     .max_blocks = static_cast<int64_t>(max_blocks),
                                     .logit_rows = logit_rows,
                                     .wants_largest = wants_largest});
  EXPECT_TRUE(logits.ok()) << logits.status().message();
  if (!logits.ok()) return;
  int64_t row = 0;
  for (const TestSlice& slice : slices) {
    TestLogits& out = slice.sequence->logits;
    out.vocab = logits->dim(1);
    const auto* first = logits->Row<float>(row);
    out.values.insert(out.values.end(), first, first + slice.num_tokens * out.vocab);
    row += slice.num_tokens;
  }
}

// One sequence alone: its next tokens as prompt slices of these sizes, one step each, then the rest
// as decode steps of one token. Returns the logits of every token computed.
inline const TestLogits& RunAlone(Model& model, TestSequence& sequence,
                                  std::span<const int64_t> prefill_slices) {
  for (const int64_t size : prefill_slices) {
    RunStep(model, {{&sequence, size, SequenceForm::kPrefill}});
  }
  while (sequence.num_computed < static_cast<int64_t>(sequence.tokens.size())) {
    RunStep(model, {{&sequence, 1, SequenceForm::kDecode}});
  }
  return sequence.logits;
}

}  // namespace gdn
