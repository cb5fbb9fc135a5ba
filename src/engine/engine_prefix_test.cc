// SPDX-License-Identifier: Apache-2.0
// Prompts that begin like earlier ones.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/witness_testing.h"

namespace gdn {
namespace {

TEST(EnginePrefix, TheSamePromptTwice) {  // vllm 51250
  for (const size_t length : {1, 64, 65, 128, 200, 700}) {
    WitnessHarness h({.context_tokens = 1000, .num_snapshots = 4});
    const std::vector<int32_t> prompt = RandomTokens(length, 1);
    const Answer first = h.Run(prompt, 5);
    const Answer second = h.Run(prompt, 5);
    EXPECT_EQ(first.tokens, AnswerAlone(prompt, 5));
    EXPECT_EQ(second.tokens, first.tokens);
    EXPECT_EQ(first.num_cached, 0);
    EXPECT_EQ(second.num_cached, (static_cast<int64_t>(length) - 1) / kKvBlockSize * kKvBlockSize)
        << length;
    h.ExpectNothingMissing();
  }
}

TEST(EnginePrefix, TheNextTurnComputesItsNewTokensAndAtMostAChunk) {  // llama.cpp 20225
  WitnessHarness h({.context_tokens = 1000, .num_snapshots = 4});
  const std::vector<int32_t> prompt = RandomTokens(300, 2);
  const Answer reply = h.Run(prompt, 30);
  const int64_t before = h.model->num_prefilled();
  const std::vector<int32_t> next = Join(Join(prompt, reply.tokens), RandomTokens(20, 3));
  EXPECT_EQ(h.Run(next, 5).tokens, AnswerAlone(next, 5));
  EXPECT_LE(h.model->num_prefilled() - before, 30 + 20 + 63);
}

TEST(EnginePrefix, PromptsThatDifferNearTheirEnd) {  // llama.cpp 24714
  for (size_t differ = 1; differ <= 8; ++differ) {
    WitnessHarness h({.context_tokens = 1000, .num_snapshots = 4});
    std::vector<int32_t> prompt = RandomTokens(260, 4);
    h.Run(prompt, 3);
    for (size_t i = prompt.size() - differ; i < prompt.size(); ++i) {
      prompt[i] = static_cast<int32_t>((prompt[i] + 1) % WitnessModel::kVocab);
    }
    const Answer answer = h.Run(prompt, 3);
    EXPECT_EQ(answer.tokens, AnswerAlone(prompt, 3));
    EXPECT_EQ(answer.num_cached, differ <= 4 ? 256 : 192) << differ;
  }
}

// Whatever the slices: the states that a prompt leaves behind are those at multiples of the
// interval and at its last two blocks, and another prompt starts from the last one that they share.
TEST(EnginePrefix, SnapshotsLieAtMultiplesOfTheInterval) {
  const std::vector<int32_t> prompt = RandomTokens(900, 6);  // 14 blocks
  for (const int64_t prefill_tokens : {64, 192, 512}) {
    for (const int64_t interval : {64, 128, 256, 512}) {
      for (const int64_t common : {63, 64, 300, 511, 512, 700, 840, 899}) {
        WitnessHarness h({.context_tokens = 1000,
                          .max_seqs = 2,
                          .prefill_tokens = prefill_tokens,
                          .num_snapshots = 20,
                          .snapshot_interval = interval});
        h.Submit(RandomTokens(150, 8), 4);  // 2 blocks, and slices that end elsewhere
        h.Run(prompt, 2);
        EXPECT_EQ(h.engine->prefix_cache().num_used_snapshots(), 2 + 12 * 64 / interval + 2);
        const int64_t want = common >= 832 ? common / 64 * 64 : common / interval * interval;
        std::vector<int32_t> other(prompt.begin(), prompt.begin() + common);
        other.push_back(static_cast<int32_t>((prompt[other.size()] + 1) % WitnessModel::kVocab));
        const Answer answer = h.Run(other, 3);
        EXPECT_EQ(answer.num_cached, want) << common << " of interval " << interval;
        EXPECT_EQ(answer.tokens, AnswerAlone(other, 3));
        h.ExpectNothingMissing();
      }
    }
  }
}

TEST(EnginePrefix, OffWithoutSnapshots) {
  WitnessHarness h({.context_tokens = 1000});
  const std::vector<int32_t> prompt = RandomTokens(200, 5);
  h.Run(prompt, 2);
  EXPECT_EQ(h.Run(prompt, 2).num_cached, 0);
  EXPECT_EQ(h.engine->prefix_cache().num_nodes(), 0);
}

// club-3090 896, llama.cpp 27579
TEST(EnginePrefix, EqualPromptsAtOnceAreComputedOnce) {
  for (const int64_t snapshots : {2, 20}) {
    for (const int64_t prefill_tokens : {64, 512}) {
      WitnessHarness h({.context_tokens = 1000,
                        .max_seqs = 8,
                        .prefill_tokens = prefill_tokens,
                        .num_snapshots = snapshots});
      const std::vector<int32_t> prompt = RandomTokens(500, 9);
      std::vector<RequestId> ids;
      for (int i = 0; i < 8; ++i) ids.push_back(h.Submit(prompt, 40));
      while (h.engine->HasWork()) h.Step();
      EXPECT_EQ(h.model->num_prefilled(), 500 + 7 * (500 - 448));
      for (const RequestId id : ids) {
        EXPECT_EQ(h.answers[id].tokens, AnswerAlone(prompt, 40));
        EXPECT_EQ(h.answers[id].num_cached, id == ids[0] ? 0 : 448);
      }
      h.ExpectNothingMissing();
    }
  }
}

TEST(EnginePrefix, OneSystemPromptAtOnceIsComputedOnce) {
  WitnessHarness h({.context_tokens = 1000, .max_seqs = 4, .num_snapshots = 20});
  const std::vector<int32_t> system = RandomTokens(300, 10);
  std::map<RequestId, std::vector<int32_t>> prompts;
  for (uint64_t i = 0; i < 8; ++i) {
    std::vector<int32_t> prompt = Join(system, RandomTokens(30 + 10 * i, 20 + i));
    const RequestId id = h.Submit(prompt, 10);
    prompts[id] = std::move(prompt);
  }
  while (h.engine->HasWork()) h.Step();
  for (const auto& [id, prompt] : prompts) {
    EXPECT_EQ(h.answers[id].tokens, AnswerAlone(prompt, 10));
    EXPECT_EQ(h.answers[id].num_cached, id == prompts.begin()->first ? 0 : 256);
  }
  h.ExpectNothingMissing();
}

TEST(EnginePrefix, OthersPassOneThatWaitsAndTakeNothingFromIt) {
  WitnessHarness h(
      {.context_tokens = 1000, .max_seqs = 3, .prefill_tokens = 64, .num_snapshots = 20});
  const std::vector<int32_t> prompt = RandomTokens(500, 11);
  h.Submit(prompt, 5);
  const RequestId waits = h.Submit(prompt, 5);
  const RequestId passes = h.Submit(RandomTokens(20, 12), 300);
  const RequestId stays = h.Submit(RandomTokens(20, 13), 300);
  while (h.answers[waits].tokens.empty()) h.Step();
  EXPECT_EQ(h.answers[waits].num_cached, 448);
  EXPECT_FALSE(h.answers[passes].tokens.empty());
  EXPECT_TRUE(h.answers[stays].tokens.empty()) << "the third slot is not its own";
  while (h.engine->HasWork()) h.Step();
  h.ExpectNothingMissing();
}

TEST(EnginePrefix, TheOneThatIsWaitedForMayEnd) {
  WitnessHarness h(
      {.context_tokens = 1000, .max_seqs = 3, .prefill_tokens = 64, .num_snapshots = 20});
  const std::vector<int32_t> prompt = RandomTokens(500, 14);
  const RequestId first = h.Submit(prompt, 5);
  const RequestId second = h.Submit(prompt, 5);
  const RequestId third = h.Submit(prompt, 5);
  for (int i = 0; i < 3; ++i) h.Step();
  h.engine->Cancel(first);
  h.Step();
  h.engine->Cancel(third);
  while (h.engine->HasWork()) h.Step();
  EXPECT_EQ(h.answers[second].tokens, AnswerAlone(prompt, 5));
  EXPECT_FALSE(h.answers.contains(third));
  h.ExpectNothingMissing();
}

TEST(EnginePrefix, NobodyWaitsForOneThatCameLater) {
  WitnessHarness h(
      {.context_tokens = 1000, .max_seqs = 2, .prefill_tokens = 64, .num_snapshots = 20});
  const std::vector<int32_t> prompt = RandomTokens(500, 15);
  h.Submit(prompt, 5);
  h.Step();
  Request urgent{.prompt = prompt, .max_new_tokens = 5, .priority = 1};
  const RequestId id = h.engine->Submit(std::move(urgent)).value();
  h.Step();
  EXPECT_EQ(h.engine->num_free_slots(), 0);
  while (h.engine->HasWork()) h.Step();
  EXPECT_EQ(h.answers[id].tokens, AnswerAlone(prompt, 5));
  h.ExpectNothingMissing();
}

// Prompts of a few common beginnings, with too little memory for all of them, joining and being
// cancelled at random: each answer is that of the request alone, and nothing gets lost.
TEST(EnginePrefix, RandomTrafficGivesTheAnswersOfRequestsAlone) {
  for (const int64_t snapshots : {1, 3, 8}) {
    WitnessHarness h(
        {.context_tokens = 500, .max_seqs = 3, .prefill_tokens = 128, .num_snapshots = snapshots});
    Rng rng(static_cast<uint64_t>(snapshots));
    std::map<RequestId, std::pair<std::vector<int32_t>, int64_t>> requests;
    std::vector<RequestId> cancelled;
    for (int i = 0; i < 150; ++i) {
      std::vector<int32_t> prompt = RandomTokens(64 * rng.NextBelow(4) + 32, rng.NextBelow(3));
      prompt = Join(prompt, RandomTokens(1 + rng.NextBelow(150), rng.NextBelow(4)));
      const auto new_tokens = static_cast<int64_t>(1 + rng.NextBelow(12));
      const RequestId id = h.Submit(prompt, new_tokens);
      requests[id] = {std::move(prompt), new_tokens};
      for (uint64_t steps = rng.NextBelow(8); steps > 0; --steps) h.Step();
      if (rng.NextBelow(6) == 0) {
        h.engine->Cancel(id);
        cancelled.push_back(id);
      }
    }
    while (h.engine->HasWork()) h.Step();
    int64_t hits = 0;
    for (const auto& [id, request] : requests) {
      if (std::ranges::find(cancelled, id) != cancelled.end()) continue;
      ASSERT_EQ(h.answers[id].tokens, AnswerAlone(request.first, request.second)) << id;
      hits += h.answers[id].num_cached > 0 ? 1 : 0;
    }
    EXPECT_GT(hits, 10) << snapshots;
    h.ExpectNothingMissing();
  }
}

}  // namespace
}  // namespace gdn
