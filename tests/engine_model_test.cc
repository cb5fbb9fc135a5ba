// SPDX-License-Identifier: Apache-2.0
// Requests of a real model through the engine: whatever happens around one, each of its tokens has
// the logits, bit for bit, that it has when it is alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <vector>

#include "base/rng.h"
#include "engine/engine.h"

namespace gdn {
namespace {

constexpr const char* kTiny = GDN_SOURCE_DIR "/models/tiny";
constexpr int64_t kTop = 8;

struct Answer {
  std::vector<int32_t> tokens;
  std::vector<uint32_t> logits;  // bits of the largest kTop of each token
  int64_t num_cached = 0;

  bool operator==(const Answer& other) const {
    return tokens == other.tokens && logits == other.logits;
  }
};

class Runner {
 public:
  Runner(const EngineConfig& config, ThreadPool& pool)
      : Runner(config, LoadModel(kTiny, {}, pool, [](size_t, size_t) {})) {}
  Runner(const EngineConfig& config, Result<std::unique_ptr<Model>> model) {
    EXPECT_TRUE(model.ok()) << model.status().message();
    model_ = model->get();
    engine_ = std::move(Engine::Create(std::move(model).value(), config)).value();
  }

  // Every state, key and value that the pools hold becomes NaN: bytes of 0xFF are one in each
  // dtype.
  void FillPoolsWithNan() {
    const std::vector<std::byte> nan(model_->SavedBytes(1), std::byte{0xFF});
    const RunLimits& limits = engine_->limits();
    for (int64_t row = 1; row < std::max(limits.num_slots, limits.num_blocks); ++row) {
      const std::vector<int32_t> block = {
          static_cast<int32_t>(std::min(row, limits.num_blocks - 1))};
      const auto slot = static_cast<int32_t>(std::min(row, limits.num_slots - 1));
      model_->Restore(slot, block, nan);
    }
  }

  RequestId Submit(std::vector<int32_t> prompt, int64_t new_tokens, uint64_t seed = 0) {
    Request request{.prompt = std::move(prompt), .max_new_tokens = new_tokens};
    if (seed != 0) request.sampling = {.temperature = 1.5F, .top_k = 50, .seed = seed};
    request.num_top_logits = kTop;
    return engine_->Submit(std::move(request)).value();
  }
  void Step() {
    const Status status = engine_->Step([&](const TokenEvent& event) {
      if (event.token < 0) return;
      Answer& answer = answers[event.request];
      answer.tokens.push_back(event.token);
      answer.num_cached = event.num_cached_tokens;
      for (const TokenLogit& entry : event.top_logits) {
        answer.logits.push_back(static_cast<uint32_t>(entry.token));
        answer.logits.push_back(std::bit_cast<uint32_t>(entry.logit));
      }
    });
    ASSERT_TRUE(status.ok()) << status.message();
  }
  Answer Run(std::vector<int32_t> prompt, int64_t new_tokens, uint64_t seed = 0) {
    const RequestId id = Submit(std::move(prompt), new_tokens, seed);
    while (engine_->HasWork()) Step();
    return answers[id];
  }
  Engine& engine() { return *engine_; }

  std::map<RequestId, Answer> answers;

 private:
  Model* model_ = nullptr;
  std::unique_ptr<Engine> engine_;
};

std::vector<int32_t> RandomTokens(size_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<int32_t> out(count);
  for (int32_t& token : out) token = static_cast<int32_t>(rng.NextBelow(2000));
  return out;
}

std::vector<int32_t> Join(std::vector<int32_t> a, const std::vector<int32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class EngineModel : public testing::Test {
 protected:
  Answer Alone(const std::vector<int32_t>& prompt, int64_t new_tokens, uint64_t seed = 0) {
    Runner runner({.context_tokens = 1024}, pool_);
    return runner.Run(prompt, new_tokens, seed);
  }

  ThreadPool pool_{2};
};

TEST_F(EngineModel, APrefixFromTheCacheChangesNoBit) {
  Runner runner({.context_tokens = 1024, .num_snapshots = 3}, pool_);
  const std::vector<int32_t> prompt = RandomTokens(330, 1);
  const Answer first = runner.Run(prompt, 20);
  EXPECT_EQ(first, Alone(prompt, 20));
  const Answer again = runner.Run(prompt, 20);
  EXPECT_EQ(again.num_cached, 320);
  EXPECT_EQ(again, first);
  const std::vector<int32_t> turn = Join(Join(prompt, first.tokens), RandomTokens(100, 2));
  const Answer next = runner.Run(turn, 20);
  EXPECT_EQ(next.num_cached, 320);
  EXPECT_EQ(next, Alone(turn, 20));
}

// The last slice is short while another request decodes. (vllm 55766)
TEST_F(EngineModel, AShortLastSliceBesideADecodeChangesNoBit) {
  Runner runner({.context_tokens = 256, .max_seqs = 2, .prefill_tokens = 64}, pool_);
  const std::vector<int32_t> decoding = RandomTokens(20, 30);
  const RequestId beside = runner.Submit(decoding, 60);
  runner.Step();
  for (size_t last = 1; last <= 8; ++last) {
    const std::vector<int32_t> prompt = RandomTokens(128 + last, 31);
    const RequestId id = runner.Submit(prompt, 4);
    while (runner.answers[id].tokens.size() < 4) runner.Step();
    EXPECT_LT(runner.answers[beside].tokens.size(), 60U) << "nobody decodes beside it";
    EXPECT_EQ(runner.answers[id], Alone(prompt, 4)) << last;
  }
  while (runner.engine().HasWork()) runner.Step();
  EXPECT_EQ(runner.answers[beside], Alone(decoding, 60));
}

// No slice and no snapshot starts from what the memory held before. (qwen38-27b-rtx3090 43)
TEST_F(EngineModel, NothingStartsFromStaleMemory) {
  for (const size_t length : {1, 2, 63, 64, 65, 85, 200}) {
    const std::vector<int32_t> prompt = RandomTokens(length, 40);
    const Answer want = Alone(prompt, 6);
    for (const int64_t num_snapshots : {0, 4}) {
      Runner runner({.context_tokens = 256,
                     .max_seqs = 3,
                     .prefill_tokens = 64,
                     .num_snapshots = num_snapshots},
                    pool_);
      runner.FillPoolsWithNan();
      const RequestId first = runner.Submit(prompt, 6);
      const RequestId second = runner.Submit(prompt, 6);
      while (runner.engine().HasWork()) runner.Step();
      EXPECT_EQ(runner.answers[first], want) << length;
      EXPECT_EQ(runner.answers[second], want) << length;
      EXPECT_EQ(want.tokens.size(), 6U);
    }
  }
}

// Equal prompts at once have one answer, their prompt is computed once, and a different one beside
// them has its own. (club-3090 896, llama.cpp 27579)
TEST_F(EngineModel, EqualPromptsAtOnceHaveOneAnswer) {
  const std::vector<int32_t> prompt = RandomTokens(500, 50);
  const std::vector<int32_t> other = RandomTokens(500, 51);
  const Answer want = Alone(prompt, 12);
  const Answer want_other = Alone(other, 12);
  ASSERT_FALSE(want == want_other);
  for (const int64_t num_snapshots : {0, 8}) {
    Runner runner({.context_tokens = 1024, .max_seqs = 9, .num_snapshots = num_snapshots}, pool_);
    std::vector<RequestId> ids;
    for (int i = 0; i < 8; ++i) ids.push_back(runner.Submit(prompt, 12));
    const RequestId different = runner.Submit(other, 12);
    while (runner.engine().HasWork()) runner.Step();
    for (const RequestId id : ids) {
      EXPECT_EQ(runner.answers[id], want);
      const bool shares = id != ids[0] && num_snapshots > 0;
      EXPECT_EQ(runner.answers[id].num_cached, shares ? 448 : 0);
    }
    EXPECT_EQ(runner.answers[different], want_other);
  }
}

// vllm 48613
TEST_F(EngineModel, ARequestInABatchOfFourHasTheBitsOfOneAlone) {
  Runner runner({.context_tokens = 256, .max_seqs = 4}, pool_);
  std::map<RequestId, std::vector<int32_t>> prompts;
  for (uint64_t i = 0; i < 4; ++i) {
    const std::vector<int32_t> prompt = RandomTokens(17 + 50 * i, 60 + i);
    prompts[runner.Submit(prompt, 24)] = prompt;
  }
  while (runner.engine().HasWork()) runner.Step();
  for (const auto& [id, prompt] : prompts) EXPECT_EQ(runner.answers[id], Alone(prompt, 24)) << id;
}

// A model in f32 runs, whole and in any company. (vllm 51305)
TEST_F(EngineModel, AnF32ModelGivesTheSameBitsInACrowd) {
  const auto model = [&] {
    const ModelConfig config = LoadModelConfig(kTiny).value();
    return MakeRandomModel(config, DType::kF32, 3, {}, pool_, [](size_t, size_t) {});
  };
  Runner alone({.context_tokens = 256}, model());
  Runner crowd({.context_tokens = 256, .max_seqs = 3, .prefill_tokens = 64, .num_snapshots = 4},
               model());
  std::map<RequestId, std::vector<int32_t>> prompts;
  for (uint64_t i = 0; i < 4; ++i) {
    const std::vector<int32_t> prompt =
        Join(RandomTokens(100, 70), RandomTokens(1 + 30 * i, 71 + i));
    prompts[crowd.Submit(prompt, 12)] = prompt;
  }
  while (crowd.engine().HasWork()) crowd.Step();
  for (const auto& [id, prompt] : prompts) {
    const Answer want = alone.Run(prompt, 12);
    EXPECT_EQ(want.tokens.size(), 12U);
    EXPECT_EQ(crowd.answers[id], want) << id;
  }
}

TEST_F(EngineModel, GivingUpMemoryChangesNoBit) {
  for (const size_t swap_bytes : {size_t{0}, size_t{1} << 30}) {
    Runner runner({.context_tokens = 512,
                   .max_seqs = 3,
                   .prefill_tokens = 128,
                   .kv_tokens = 576,
                   .swap_bytes = swap_bytes},
                  pool_);
    std::map<RequestId, std::vector<int32_t>> prompts;
    for (uint64_t i = 0; i < 3; ++i) {
      const std::vector<int32_t> prompt = RandomTokens(90 + 40 * i, 10 + i);
      prompts[runner.Submit(prompt, 120, i + 1)] = prompt;
    }
    while (runner.engine().HasWork()) runner.Step();
    EXPECT_GT(runner.engine().num_preemptions(), 0);
    EXPECT_EQ(runner.engine().num_swaps() > 0, swap_bytes > 0);
    for (const auto& [id, prompt] : prompts) {
      EXPECT_EQ(runner.answers[id], Alone(prompt, 120, id)) << id;
    }
  }
}

TEST_F(EngineModel, RandomTrafficGivesTheAnswersOfRequestsAlone) {
  Runner runner({.context_tokens = 512,
                 .max_seqs = 4,
                 .prefill_tokens = 128,
                 .num_snapshots = 3,
                 .kv_tokens = 900,
                 .swap_bytes = 2'000'000},
                pool_);
  Rng rng(5);
  struct Sent {
    std::vector<int32_t> prompt;
    int64_t new_tokens;
    uint64_t seed;
  };
  std::map<RequestId, Sent> sent;
  for (uint64_t i = 0; i < 24; ++i) {
    Sent request = {Join(RandomTokens(64 * rng.NextBelow(4), rng.NextBelow(2)),
                         RandomTokens(1 + rng.NextBelow(90), 50 + i)),
                    static_cast<int64_t>(1 + rng.NextBelow(60)), 1 + rng.NextBelow(9)};
    const RequestId id = runner.Submit(request.prompt, request.new_tokens, request.seed);
    if (rng.NextBelow(6) == 0) {
      runner.engine().Cancel(id);
    } else {
      sent[id] = std::move(request);
    }
    for (uint64_t steps = rng.NextBelow(12); steps > 0; --steps) runner.Step();
  }
  while (runner.engine().HasWork()) runner.Step();
  for (const auto& [id, request] : sent) {
    EXPECT_EQ(runner.answers[id], Alone(request.prompt, request.new_tokens, request.seed)) << id;
  }
  Engine& engine = runner.engine();
  EXPECT_EQ(engine.num_free_slots(), 4);
  EXPECT_EQ(engine.num_free_blocks(), engine.limits().num_blocks - 1);
}

}  // namespace
}  // namespace gdn
