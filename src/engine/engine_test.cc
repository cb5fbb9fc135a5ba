// SPDX-License-Identifier: Apache-2.0
// The engine over a model that only looks at its batches.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "ops/gated_delta_rule/gated_delta_rule.h"

namespace gdn {
namespace {

constexpr int64_t kVocab = 97;

struct SeenSequence {
  int32_t slot;
  SequenceForm form;
  int32_t first_position;
  int32_t num_tokens;
};
using SeenStep = std::vector<SeenSequence>;

// The next token of a sequence whose last token is t at position p is (t + p) % vocab.
class FakeModel final : public Model {
 public:
  FakeModel() {
    config_.vocab_size = kVocab;
    config_.max_positions = 1000;
  }
  const ModelConfig& config() const override { return config_; }
  DType dtype() const override { return DType::kF32; }
  MemoryNeeds Needs(const RunLimits& /*limits*/) const override { return {}; }
  const KernelLog& kernels() const override { return log_; }
  void CopyState(int32_t /*from_slot*/, int32_t /*to_slot*/) override {}
  size_t SavedBytes(size_t /*num_blocks*/) const override { return 0; }
  void Save(int32_t /*slot*/, std::span<const int32_t> /*blocks*/,
            std::span<std::byte> /*saved*/) const override {}
  void Restore(int32_t /*slot*/, std::span<const int32_t> /*blocks*/,
               std::span<const std::byte> /*saved*/) override {}
  Status Plan(const RunLimits& limits) override {
    limits_ = limits;
    logits_.resize(static_cast<size_t>(limits.max_logit_rows * kVocab));
    return OkStatus();
  }
  Result<ConstTensor> Forward(const Batch& batch) override {
    Record(batch);
    std::ranges::fill(logits_, 0.0F);
    for (size_t i = 0; i < batch.logit_rows.size(); ++i) {
      const auto t = static_cast<size_t>(batch.logit_rows[i]);
      const int64_t next = (batch.tokens[t] + batch.positions[t]) % kVocab;
      logits_[i * kVocab + static_cast<size_t>(next)] = broken_ ? NAN : 1.0F;
      if (broken_) std::fill_n(logits_.begin() + static_cast<long>(i * kVocab), kVocab, NAN);
      if (finds_largest_) TakeAway(batch, i, static_cast<int32_t>(next));
    }
    return ConstTensor(logits_.data(), {static_cast<int64_t>(batch.logit_rows.size()), kVocab});
  }

  const std::vector<SeenStep>& steps() const { return steps_; }
  void Break() { broken_ = true; }
  // As a device does it.
  void FindLargest() { finds_largest_ = true; }
  std::span<const int32_t> largest() const override { return largest_; }
  int64_t num_rows_taken_away() const { return num_rows_taken_away_; }

 private:
  void TakeAway(const Batch& batch, size_t row, int32_t largest) {
    largest_.resize(batch.logit_rows.size(), -5);
    if (batch.wants_largest[row] == 0) return;
    largest_[row] = broken_ ? -1 : largest;
    std::fill_n(logits_.begin() + static_cast<long>(row * kVocab), kVocab, NAN);
    ++num_rows_taken_away_;
  }
  void Record(const Batch& batch) {
    EXPECT_LE(batch.num_tokens(), limits_.max_tokens);
    EXPECT_LE(batch.num_seqs(), limits_.max_seqs);
    SeenStep step;
    for (size_t n = 0; n < batch.forms.size(); ++n) {
      const int32_t first = batch.cu_seqlens[n];
      const int32_t count = batch.cu_seqlens[n + 1] - first;
      step.push_back({batch.state_slots[n], batch.forms[n],
                      batch.positions[static_cast<size_t>(first)], count});
      const int32_t last = batch.positions[static_cast<size_t>(first + count - 1)];
      for (int32_t block = 0; block <= last / 64; ++block) {
        EXPECT_GT(batch.block_table[n * static_cast<size_t>(batch.max_blocks) +
                                    static_cast<size_t>(block)],
                  0);
      }
    }
    steps_.push_back(step);
  }

  ModelConfig config_;
  RunLimits limits_;
  KernelLog log_;
  std::vector<float> logits_;
  std::vector<SeenStep> steps_;
  bool broken_ = false;
  bool finds_largest_ = false;
  int64_t num_rows_taken_away_ = 0;
  std::vector<int32_t> largest_;
};

struct Harness {
  explicit Harness(const EngineConfig& config) {
    auto owned = std::make_unique<FakeModel>();
    model = owned.get();
    engine = std::move(Engine::Create(std::move(owned), config)).value();
  }
  RequestId Submit(int64_t prompt_tokens, int64_t new_tokens) {
    Request request;
    request.prompt.assign(static_cast<size_t>(prompt_tokens), 5);
    request.max_new_tokens = new_tokens;
    return engine->Submit(std::move(request)).value();
  }
  void Step() {
    const Status status = engine->Step([&](const TokenEvent& event) {
      if (event.token >= 0) tokens[event.request].push_back(event.token);
      if (event.finish != FinishReason::kNone) finish[event.request] = event.finish;
    });
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void Drain() {
    while (engine->HasWork()) Step();
  }
  void ExpectAllFree() const {
    EXPECT_EQ(engine->num_free_slots(), engine->limits().num_slots - 1);
    EXPECT_EQ(engine->num_free_blocks(), engine->limits().num_blocks - 1);
  }

  FakeModel* model = nullptr;
  std::unique_ptr<Engine> engine;
  std::map<RequestId, std::vector<int32_t>> tokens;
  std::map<RequestId, FinishReason> finish;
};

TEST(Engine, SlicesPromptsAtMultiplesOfTheChunk) {
  Harness h({.context_tokens = 400, .max_seqs = 1, .prefill_tokens = 128});
  h.Submit(300, 2);
  h.Drain();
  const std::vector<int32_t> want_counts = {128, 128, 44, 1};
  ASSERT_EQ(h.model->steps().size(), want_counts.size());
  for (size_t i = 0; i < want_counts.size(); ++i) {
    EXPECT_EQ(h.model->steps()[i][0].num_tokens, want_counts[i]);
    EXPECT_EQ(h.model->steps()[i][0].form, i < 3 ? SequenceForm::kPrefill : SequenceForm::kDecode);
  }
  h.ExpectAllFree();
}

TEST(Engine, DecodesComeBeforePrefills) {
  Harness h({.context_tokens = 300, .max_seqs = 3, .prefill_tokens = 64});
  h.Submit(10, 8);
  h.Step();
  h.Submit(200, 3);
  h.Submit(70, 3);
  h.Drain();
  size_t mixed = 0;
  for (const SeenStep& step : h.model->steps()) {
    for (size_t n = 1; n < step.size(); ++n) {
      EXPECT_FALSE(step[n - 1].form == SequenceForm::kPrefill &&
                   step[n].form == SequenceForm::kDecode);
      mixed += step[n - 1].form != step[n].form ? 1 : 0;
    }
    for (const SeenSequence& seen : step) {
      if (seen.form == SequenceForm::kPrefill) {
        EXPECT_EQ(seen.first_position % kChunkSize, 0);
      }
    }
  }
  EXPECT_GT(mixed, 0U);
  h.ExpectAllFree();
}

TEST(Engine, AnswersEqualThoseOfARequestAlone) {
  std::vector<std::vector<int32_t>> alone;
  const std::vector<std::pair<int64_t, int64_t>> requests = {{3, 9}, {130, 4}, {64, 1}, {65, 12}};
  for (const auto& [prompt, count] : requests) {
    Harness h({.context_tokens = 300});
    const RequestId id = h.Submit(prompt, count);
    h.Drain();
    alone.push_back(h.tokens[id]);
    EXPECT_EQ(static_cast<int64_t>(alone.back().size()), count);
  }
  Harness h({.context_tokens = 300, .max_seqs = 2, .prefill_tokens = 64});
  std::vector<RequestId> ids;
  ids.reserve(requests.size());
  for (const auto& [prompt, count] : requests) ids.push_back(h.Submit(prompt, count));
  h.Drain();
  for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(h.tokens[ids[i]], alone[i]);
  h.ExpectAllFree();
}

TEST(Engine, StopsAtAStopToken) {
  Harness h({.context_tokens = 100});
  Request request{.prompt = {5, 5, 5}, .max_new_tokens = 50, .stop_token_ids = {10, 20}};
  // 5 + 2 = 7, 7 + 3 = 10.
  const RequestId id = h.engine->Submit(std::move(request)).value();
  h.Drain();
  EXPECT_EQ(h.tokens[id], (std::vector<int32_t>{7, 10}));
  EXPECT_EQ(h.finish[id], FinishReason::kStop);
  h.ExpectAllFree();
}

TEST(Engine, EndsAtTheContextsEnd) {
  Harness h({.context_tokens = 20});
  const RequestId id = h.Submit(15, 100);
  h.Drain();
  EXPECT_EQ(h.tokens[id].size(), 5U);
  EXPECT_EQ(h.finish[id], FinishReason::kLength);
}

TEST(Engine, CancelFreesARunningAndAWaitingRequest) {
  Harness h({.context_tokens = 100, .max_seqs = 1});
  const RequestId running = h.Submit(10, 50);
  const RequestId waiting = h.Submit(10, 50);
  h.Step();
  h.engine->Cancel(running);
  h.engine->Cancel(waiting);
  h.engine->Cancel(12345);
  h.Step();
  EXPECT_EQ(h.finish[running], FinishReason::kCancelled);
  EXPECT_EQ(h.finish[waiting], FinishReason::kCancelled);
  EXPECT_FALSE(h.engine->HasWork());
  h.ExpectAllFree();
}

TEST(Engine, LogitsThatAreNoNumbersEndTheRequestAlone) {
  Harness h({.context_tokens = 100});
  h.model->Break();
  const RequestId id = h.Submit(10, 5);
  h.Drain();
  EXPECT_EQ(h.finish[id], FinishReason::kError);
  h.ExpectAllFree();
}

// Everything but the plain greedy request needs more of the logits than the largest.
TEST(Engine, TakesTheModelsWordForTheLargestLogitWhereThatIsAll) {
  const auto run = [](bool finds_largest, int64_t* num_rows) {
    Harness h({.context_tokens = 100, .max_seqs = 5});
    if (finds_largest) h.model->FindLargest();
    const std::vector<Request> requests = {{},
                                           {.sampling = {.temperature = 1, .seed = 3}},
                                           {.sampling = {.logit_bias = {{7, 0.5F}}}},
                                           {.num_top_logits = 1},
                                           {.log_probs = true}};
    for (Request request : requests) {
      request.prompt.assign(10, 5);
      request.max_new_tokens = 6;
      EXPECT_TRUE(h.engine->Submit(std::move(request)).ok());
    }
    h.Drain();
    *num_rows = h.model->num_rows_taken_away();
    return h.tokens;
  };
  int64_t num_rows = 0;
  const auto want = run(false, &num_rows);
  EXPECT_EQ(num_rows, 0);
  EXPECT_EQ(run(true, &num_rows), want);
  EXPECT_EQ(num_rows, 6);
}

TEST(Engine, SaysWhoRunsBeforeTheModelDoes) {
  Harness h({.context_tokens = 100});
  h.Submit(10, 5);
  int64_t running = -1;
  size_t steps = 1;
  const Status status = h.engine->Step([](const TokenEvent&) {},
                                       [&] {
                                         running = h.engine->num_running();
                                         steps = h.model->steps().size();
                                       });
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(running, 1);
  EXPECT_EQ(steps, 0U);
}

TEST(Engine, NoLargestLogitEndsTheRequest) {
  Harness h({.context_tokens = 100});
  h.model->Break();
  h.model->FindLargest();
  const RequestId id = h.Submit(10, 5);
  h.Drain();
  EXPECT_EQ(h.finish[id], FinishReason::kError);
  h.ExpectAllFree();
}

TEST(Engine, RefusesWhatCannotRun) {
  Harness h({.context_tokens = 20});
  const auto message = [&](Request request) {
    const Result<RequestId> result = h.engine->Submit(std::move(request));
    return result.ok() ? "accepted" : result.status().message();
  };
  EXPECT_EQ(message({}), "prompt is empty, want at least one token");
  EXPECT_EQ(message({.prompt = std::vector<int32_t>(20, 1)}),
            "prompt is 20 tokens, want at most 19 (context 20, one left to generate)");
  EXPECT_EQ(message({.prompt = {kVocab}}), "prompt holds token 97, want below 97");
  EXPECT_EQ(message({.prompt = {-1}}), "prompt holds token -1, want below 97");
  EXPECT_EQ(message({.prompt = {1}, .max_new_tokens = 0}),
            "tokens to generate is 0, want at least 1");
  EXPECT_NE(message({.prompt = {1}, .sampling = {.temperature = -1}}), "accepted");
  EXPECT_FALSE(h.engine->HasWork());
}

TEST(Engine, RefusesAConfigThatCannotBe) {
  ModelConfig model;
  model.max_positions = 100;
  EXPECT_FALSE(Engine::Limits(model, {.context_tokens = 101}).ok());
  EXPECT_FALSE(Engine::Limits(model, {.context_tokens = -1}).ok());
  EXPECT_FALSE(Engine::Limits(model, {.max_seqs = 0}).ok());
  EXPECT_FALSE(Engine::Limits(model, {.prefill_tokens = 65}).ok());
  EXPECT_EQ(Engine::Limits(model, {.snapshot_interval = 100}).status().message(),
            "snapshot_interval is 100, want a multiple of 64");
  EXPECT_FALSE(Engine::Limits(model, {.snapshot_interval = 0}).ok());
  EXPECT_EQ(Engine::Limits(model, {}).value().max_positions, 100);
}

}  // namespace
}  // namespace gdn
