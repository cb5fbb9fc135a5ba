// SPDX-License-Identifier: Apache-2.0
// Conversations whose next turn starts from what decode left behind.
#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "engine/witness_testing.h"

namespace gdn {
namespace {

TEST(EngineReuse, TheNextTurnComputesItsNewTokensAndAtMostAChunk) {
  for (const int64_t reply_tokens : {1, 64, 84, 85, 86, 200, 600}) {
    for (const bool reuse : {false, true}) {
      WitnessHarness h({.context_tokens = 1000, .num_snapshots = 6, .reuse_decoded = reuse});
      const std::vector<int32_t> prompt = RandomTokens(300, 1);
      const Answer reply = h.Run(prompt, reply_tokens);
      EXPECT_EQ(reply.tokens, AnswerAlone(prompt, reply_tokens));
      const std::vector<int32_t> next = Join(Join(prompt, reply.tokens), RandomTokens(20, 3));
      const int64_t before = h.model->num_prefilled();
      const Answer answer = h.Run(next, 5);
      EXPECT_EQ(answer.tokens, AnswerAlone(next, 5));
      // The reply's last token has not been computed.
      const int64_t reused = (300 + reply_tokens - 1) / kKvBlockSize * kKvBlockSize;
      EXPECT_EQ(answer.num_cached, reuse ? reused : 256) << reply_tokens;
      EXPECT_EQ(h.model->num_prefilled() - before, 320 + reply_tokens - answer.num_cached);
      h.ExpectNothingMissing();
    }
  }
}

// The last two multiples of 64 stay, and those of the interval: a long answer takes no more memory
// than a long prompt.
TEST(EngineReuse, KeepsTheLastTwoStatesOfAnAnswer) {
  WitnessHarness h({.context_tokens = 1000,
                    .num_snapshots = 20,
                    .snapshot_interval = 256,
                    .reuse_decoded = true});
  const std::vector<int32_t> prompt = RandomTokens(100, 2);
  const Answer reply = h.Run(prompt, 601);
  // 64 of the prompt, 256 and 512 of the interval, 640 (the last two are 576 and 640; 700
  // computed).
  EXPECT_EQ(h.engine->prefix_cache().num_used_snapshots(), 5);
  const std::vector<int32_t> talk = Join(prompt, reply.tokens);
  const std::vector<std::pair<size_t, int64_t>> cases = {
      {690, 640}, {639, 576}, {570, 512}, {500, 256}, {255, 64}};
  for (const auto& [common, want] : cases) {
    std::vector<int32_t> other(talk.begin(), talk.begin() + static_cast<std::ptrdiff_t>(common));
    other.push_back(static_cast<int32_t>((talk[common] + 1) % WitnessModel::kVocab));
    EXPECT_EQ(h.Run(other, 1).num_cached, want) << common;
  }
}

// Conversations of several turns at once, in too little memory, some cancelled: each turn's answer
// is that of its tokens alone, for a witness has the same state either way.
TEST(EngineReuse, RandomConversationsGiveTheAnswersOfRequestsAlone) {
  for (const size_t swap_bytes : {size_t{0}, size_t{40'000}}) {
    WitnessHarness h({.context_tokens = 700,
                      .max_seqs = 4,
                      .prefill_tokens = 128,
                      .num_snapshots = 12,
                      .snapshot_interval = 128,
                      .reuse_decoded = true,
                      .kv_tokens = 1100,
                      .swap_bytes = swap_bytes});
    Rng rng(12);
    int64_t hits = 0;
    std::vector<std::vector<int32_t>> talks(6);
    for (int round = 0; round < 40; ++round) {
      std::map<RequestId, std::pair<size_t, int64_t>> sent;
      for (size_t i = 0; i < talks.size(); ++i) {
        if (talks[i].size() > 500) talks[i].clear();
        talks[i] = Join(talks[i], RandomTokens(1 + rng.NextBelow(90), rng.NextBelow(3)));
        const auto new_tokens = static_cast<int64_t>(1 + rng.NextBelow(100));
        const RequestId id = h.Submit(talks[i], new_tokens);
        sent[id] = {i, new_tokens};
        for (uint64_t steps = rng.NextBelow(20); steps > 0; --steps) h.Step();
        if (rng.NextBelow(10) != 0) continue;
        h.engine->Cancel(id);
        sent.erase(id);
      }
      while (h.engine->HasWork()) h.Step();
      for (const auto& [id, request] : sent) {
        std::vector<int32_t>& talk = talks[request.first];
        ASSERT_EQ(h.answers[id].tokens, AnswerAlone(talk, request.second)) << id;
        hits += h.answers[id].num_cached > 0 ? 1 : 0;
        talk = Join(talk, h.answers[id].tokens);
      }
    }
    EXPECT_GT(hits, 20);
    EXPECT_GT(h.engine->num_preemptions(), 5);
    h.ExpectNothingMissing();
  }
}

}  // namespace
}  // namespace gdn
