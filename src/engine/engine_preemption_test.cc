// SPDX-License-Identifier: Apache-2.0
// Requests that give up their memory in the middle of an answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "engine/witness_testing.h"

namespace gdn {
namespace {

// Three requests whose answers together are more than the KV cache holds.
EngineConfig Tight(size_t swap_bytes, int64_t num_snapshots) {
  return {.context_tokens = 512,
          .max_seqs = 3,
          .prefill_tokens = 128,
          .num_snapshots = num_snapshots,
          .kv_tokens = 640,
          .swap_bytes = swap_bytes};
}

class EnginePreemption : public testing::TestWithParam<int64_t> {};

TEST_P(EnginePreemption, ByCopyingAndByComputingAgainChangesNoToken) {
  for (const size_t swap_bytes : {size_t{0}, size_t{1} << 30}) {
    WitnessHarness h(Tight(swap_bytes, GetParam()));
    std::map<RequestId, std::vector<int32_t>> prompts;
    for (uint64_t i = 0; i < 3; ++i) {
      const std::vector<int32_t> prompt = RandomTokens(100 + 30 * i, i);
      prompts[h.Submit(prompt, 200)] = prompt;
    }
    while (h.engine->HasWork()) h.Step();
    EXPECT_GT(h.engine->num_preemptions(), 0);
    EXPECT_EQ(h.engine->num_swaps(), swap_bytes == 0 ? 0 : h.engine->num_preemptions());
    for (const auto& [id, prompt] : prompts) {
      EXPECT_EQ(h.answers[id].tokens, AnswerAlone(prompt, 200)) << id;
    }
    h.ExpectNothingMissing();
  }
}

TEST_P(EnginePreemption, SwapMemoryIsLimited) {
  // Room for one of them.
  WitnessHarness h(Tight(12'000, GetParam()));
  for (uint64_t i = 0; i < 3; ++i) h.Submit(RandomTokens(150, i), 300);
  while (h.engine->HasWork()) h.Step();
  EXPECT_GT(h.engine->num_swaps(), 0);
  EXPECT_GT(h.engine->num_preemptions(), h.engine->num_swaps());
  h.ExpectNothingMissing();
}

TEST_P(EnginePreemption, ACancelledOneLeavesNothingBehind) {
  for (const size_t swap_bytes : {size_t{0}, size_t{1} << 30}) {
    WitnessHarness h(Tight(swap_bytes, GetParam()));
    std::vector<RequestId> ids;
    for (uint64_t i = 0; i < 3; ++i) ids.push_back(h.Submit(RandomTokens(150, i), 300));
    while (h.engine->num_preemptions() == 0) h.Step();
    for (const RequestId id : ids) h.engine->Cancel(id);
    h.Step();
    EXPECT_FALSE(h.engine->HasWork());
    h.ExpectNothingMissing();
    const std::vector<int32_t> prompt = RandomTokens(400, 9);
    EXPECT_EQ(h.Run(prompt, 100).tokens, AnswerAlone(prompt, 100));
  }
}

TEST_P(EnginePreemption, TheFirstOfTheHighestPriorityGoesOn) {
  WitnessHarness h(Tight(0, GetParam()));
  Request low{.prompt = RandomTokens(200, 1), .max_new_tokens = 250, .priority = -1};
  Request high{.prompt = RandomTokens(200, 2), .max_new_tokens = 250, .priority = 5};
  const RequestId first = h.engine->Submit(low).value();
  h.Step();
  const RequestId second = h.engine->Submit(high).value();
  std::vector<RequestId> ended;
  while (h.engine->HasWork()) {
    ASSERT_TRUE(h.engine
                    ->Step([&](const TokenEvent& event) {
                      if (event.finish != FinishReason::kNone) ended.push_back(event.request);
                    })
                    .ok());
  }
  EXPECT_EQ(ended, (std::vector<RequestId>{second, first}));
  EXPECT_GT(h.engine->num_preemptions(), 0);
}

INSTANTIATE_TEST_SUITE_P(Snapshots, EnginePreemption, testing::Values(0, 4));

// Random requests, with too little memory for keys, values and snapshots.
TEST(EnginePreemptionTraffic, EachAnswerIsThatOfTheRequestAlone) {
  for (const size_t swap_bytes : {size_t{0}, size_t{30'000}}) {
    WitnessHarness h({.context_tokens = 400,
                      .max_seqs = 5,
                      .prefill_tokens = 64,
                      .num_snapshots = 2,
                      .kv_tokens = 700,
                      .swap_bytes = swap_bytes});
    Rng rng(11);
    std::map<RequestId, std::pair<std::vector<int32_t>, int64_t>> requests;
    for (int i = 0; i < 120; ++i) {
      std::vector<int32_t> prompt =
          Join(RandomTokens(64 * rng.NextBelow(3), rng.NextBelow(2)),
               RandomTokens(1 + rng.NextBelow(80), 100 + rng.NextBelow(5)));
      const auto new_tokens = static_cast<int64_t>(1 + rng.NextBelow(150));
      Request request{.prompt = prompt,
                      .max_new_tokens = new_tokens,
                      .priority = static_cast<int32_t>(rng.NextBelow(3))};
      const RequestId id = h.engine->Submit(std::move(request)).value();
      if (rng.NextBelow(8) == 0) {
        h.engine->Cancel(id);
      } else {
        requests[id] = {std::move(prompt), new_tokens};
      }
      for (uint64_t steps = rng.NextBelow(30); steps > 0; --steps) h.Step();
    }
    while (h.engine->HasWork()) h.Step();
    EXPECT_GT(h.engine->num_preemptions(), 5);
    for (const auto& [id, request] : requests) {
      ASSERT_EQ(h.answers[id].tokens, AnswerAlone(request.first, request.second)) << id;
    }
    h.ExpectNothingMissing();
  }
}

}  // namespace
}  // namespace gdn
