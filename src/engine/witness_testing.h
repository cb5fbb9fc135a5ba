// SPDX-License-Identifier: Apache-2.0
// A model that notices any wrong state or block: a slot holds the tokens that went through it, a KV
// block those of its positions, and both must agree. The next token is a hash of all of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "engine/engine.h"

namespace gdn {

class WitnessModel final : public Model {
 public:
  static constexpr int64_t kVocab = 101;
  static constexpr size_t kMaxPositions = 2000;

  WitnessModel() {
    config_.vocab_size = kVocab;
    config_.max_positions = kMaxPositions;
  }
  const ModelConfig& config() const override { return config_; }
  DType dtype() const override { return DType::kF32; }
  MemoryNeeds Needs(const RunLimits& /*limits*/) const override { return {}; }
  const KernelLog& kernels() const override { return log_; }
  Status Plan(const RunLimits& limits) override {
    logits_.resize(static_cast<size_t>(limits.max_logit_rows * kVocab));
    states_.resize(static_cast<size_t>(limits.num_slots));
    blocks_.assign(static_cast<size_t>(limits.num_blocks), std::vector<int32_t>(kBlock, -1));
    return OkStatus();
  }
  void CopyState(int32_t from_slot, int32_t to_slot) override {
    states_[static_cast<size_t>(to_slot)] = states_[static_cast<size_t>(from_slot)];
  }
  Result<ConstTensor> Forward(const Batch& batch) override {
    std::ranges::fill(logits_, 0.0F);
    size_t row = 0;
    for (size_t n = 0; n < batch.state_slots.size(); ++n) {
      std::vector<int32_t>& state = states_[static_cast<size_t>(batch.state_slots[n])];
      for (auto t = static_cast<size_t>(batch.cu_seqlens[n]);
           t < static_cast<size_t>(batch.cu_seqlens[n + 1]); ++t) {
        const auto position = static_cast<size_t>(batch.positions[t]);
        if (position == 0) state.clear();
        EXPECT_EQ(state.size(), position) << "the slot is not where the sequence is";
        state.push_back(batch.tokens[t]);
        Block(batch, n, position)[position % kBlock] = batch.tokens[t];
        if (batch.forms[n] == SequenceForm::kPrefill) ++num_prefilled_;
        if (row < batch.logit_rows.size() && static_cast<size_t>(batch.logit_rows[row]) == t) {
          logits_[row++ * kVocab + Next(batch, n, state)] = 1;
        }
      }
    }
    return ConstTensor(logits_.data(), {static_cast<int64_t>(batch.logit_rows.size()), kVocab});
  }
  // The state is its length and its tokens.
  size_t SavedBytes(size_t num_blocks) const override {
    return sizeof(int32_t) * (1 + kMaxPositions + num_blocks * kBlock);
  }
  void Save(int32_t slot, std::span<const int32_t> blocks,
            std::span<std::byte> saved) const override {
    const std::vector<int32_t>& state = states_[static_cast<size_t>(slot)];
    std::vector<int32_t> values = {static_cast<int32_t>(state.size())};
    values.insert(values.end(), state.begin(), state.end());
    values.resize(1 + kMaxPositions, 0);
    for (const int32_t block : blocks) {
      const std::vector<int32_t>& tokens = blocks_[static_cast<size_t>(block)];
      values.insert(values.end(), tokens.begin(), tokens.end());
    }
    ASSERT_EQ(saved.size(), values.size() * sizeof(int32_t));
    std::memcpy(saved.data(), values.data(), saved.size());
  }
  void Restore(int32_t slot, std::span<const int32_t> blocks,
               std::span<const std::byte> saved) override {
    ASSERT_EQ(saved.size(), SavedBytes(blocks.size()));
    std::vector<int32_t> values(saved.size() / sizeof(int32_t));
    std::memcpy(values.data(), saved.data(), saved.size());
    states_[static_cast<size_t>(slot)].assign(values.begin() + 1, values.begin() + 1 + values[0]);
    auto at = values.begin() + 1 + kMaxPositions;
    for (const int32_t block : blocks) {
      blocks_[static_cast<size_t>(block)].assign(at, at + kBlock);
      at += kBlock;
    }
  }
  int64_t num_prefilled() const { return num_prefilled_; }

 private:
  static constexpr auto kBlock = static_cast<size_t>(kKvBlockSize);

  std::vector<int32_t>& Block(const Batch& batch, size_t n, size_t position) {
    return blocks_[static_cast<size_t>(
        batch.block_table[n * static_cast<size_t>(batch.max_blocks) + position / kBlock])];
  }
  size_t Next(const Batch& batch, size_t n, const std::vector<int32_t>& state) {
    uint64_t hash = 1;
    for (size_t p = 0; p < state.size(); ++p) {
      EXPECT_EQ(Block(batch, n, p)[p % kBlock], state[p]) << "block of position " << p;
      hash = (hash ^ static_cast<uint64_t>(state[p])) * 0x100000001B3;
    }
    return hash % kVocab;
  }

  ModelConfig config_;
  KernelLog log_;
  std::vector<float> logits_;
  std::vector<std::vector<int32_t>> states_;
  std::vector<std::vector<int32_t>> blocks_;
  int64_t num_prefilled_ = 0;
};

struct Answer {
  std::vector<int32_t> tokens;
  int64_t num_cached = 0;
};

struct WitnessHarness {
  explicit WitnessHarness(const EngineConfig& config) {
    auto owned = std::make_unique<WitnessModel>();
    model = owned.get();
    engine = std::move(Engine::Create(std::move(owned), config)).value();
  }
  RequestId Submit(std::vector<int32_t> prompt, int64_t new_tokens) {
    Request request{.prompt = std::move(prompt), .max_new_tokens = new_tokens};
    return engine->Submit(std::move(request)).value();
  }
  void Step() {
    const Status status = engine->Step([&](const TokenEvent& event) {
      if (event.token < 0) return;
      answers[event.request].tokens.push_back(event.token);
      answers[event.request].num_cached = event.num_cached_tokens;
    });
    ASSERT_TRUE(status.ok()) << status.message();
  }
  Answer Run(std::vector<int32_t> prompt, int64_t new_tokens) {
    const RequestId id = Submit(std::move(prompt), new_tokens);
    while (engine->HasWork()) Step();
    return answers[id];
  }
  void ExpectNothingMissing() {
    EXPECT_EQ(engine->num_free_slots(), engine->limits().max_seqs);
    EXPECT_EQ(engine->num_free_blocks(), engine->limits().num_blocks - 1);
    engine->ClearPrefixCache();
    EXPECT_EQ(engine->prefix_cache().num_nodes(), 0);
    EXPECT_EQ(engine->prefix_cache().num_used_snapshots(), 0);
  }

  WitnessModel* model = nullptr;
  std::unique_ptr<Engine> engine;
  std::map<RequestId, Answer> answers;
};

inline std::vector<int32_t> RandomTokens(size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<int32_t> out(count);
  for (int32_t& token : out) token = static_cast<int32_t>(rng.NextBelow(WitnessModel::kVocab));
  return out;
}

inline std::vector<int32_t> Join(std::vector<int32_t> a, const std::vector<int32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline std::vector<int32_t> AnswerAlone(const std::vector<int32_t>& prompt, int64_t new_tokens) {
  WitnessHarness h({.context_tokens = 1000});
  return h.Run(prompt, new_tokens).tokens;
}

}  // namespace gdn
