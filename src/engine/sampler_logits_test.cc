// SPDX-License-Identifier: Apache-2.0
// What the sampler does to logits before it chooses: biases, penalties, no early stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/sampler.h"

namespace gdn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The greedy choice of so many steps over the same logits.
std::vector<int32_t> Greedy(const SamplingParams& params, const std::vector<float>& logits,
                            int steps, const SamplerContext& context = {}) {
  Sampler sampler(params, context, static_cast<int64_t>(logits.size()));
  std::vector<int32_t> out;
  for (int i = 0; i < steps; ++i) out.push_back(sampler.Sample(logits).value());
  return out;
}

TEST(SamplerLogits, BiasIsAdded) {
  EXPECT_THAT(Greedy({.logit_bias = {{2, 1.5F}, {0, -100}}}, {3, 2, 1}, 1), ElementsAre(2));
  EXPECT_THAT(Greedy({.logit_bias = {{0, -0.5F}}}, {3, 2, 1}, 1), ElementsAre(0));
}

TEST(SamplerLogits, FrequencyIsCountedInTheAnswerAlone) {
  // 3, 2.4, 1.8: each choice costs 1.
  const std::vector<int32_t> prompt = {0, 0, 0};
  EXPECT_THAT(Greedy({.frequency_penalty = 1}, {3, 2.4F, 1.8F}, 6, {.prompt = prompt}),
              ElementsAre(0, 1, 0, 2, 1, 0));
}

TEST(SamplerLogits, PresenceIsSubtractedOnce) {
  EXPECT_THAT(Greedy({.presence_penalty = 1}, {3, 2.5F, 0}, 4), ElementsAre(0, 1, 0, 0));
}

TEST(SamplerLogits, NegativePenaltiesEncourage) {
  EXPECT_THAT(Greedy({.presence_penalty = -2, .logit_bias = {{1, 0.5F}}}, {3, 2.6F}, 3),
              ElementsAre(1, 1, 1));
}

TEST(SamplerLogits, RepetitionReachesThePromptAndNegativeLogits) {
  const std::vector<int32_t> prompt = {0, 1};
  // 4 / 2, 3 / 2; 2.5 is left.
  EXPECT_THAT(Greedy({.repetition_penalty = 2}, {4, 3, 2.5F}, 2, {.prompt = prompt}),
              ElementsAre(2, 0));
  // -1 * 2 is below -1.5.
  EXPECT_THAT(
      Greedy({.repetition_penalty = 2}, {-1, -1.5F}, 1, {.prompt = std::vector<int32_t>{0}}),
      ElementsAre(1));
}

TEST(SamplerLogits, BiasComesBeforePenalties) {
  // (1 + 1) / 4 = 0.5 against 0.75; the other way round 1.25 would win.
  EXPECT_THAT(Greedy({.repetition_penalty = 4, .logit_bias = {{0, 1}}}, {1, 0.75F}, 1,
                     {.prompt = std::vector<int32_t>{0}}),
              ElementsAre(1));
}

TEST(SamplerLogits, NoStopTokenBeforeEnoughTokens) {
  const std::vector<int32_t> stops = {0, 2, 99, -1};
  EXPECT_THAT(Greedy({}, {3, 1, 2}, 4, {.stop_token_ids = stops, .min_new_tokens = 2}),
              ElementsAre(1, 1, 0, 0));
  Sampler none({}, {.stop_token_ids = stops, .min_new_tokens = 1}, 1);
  EXPECT_THAT(none.Sample(std::vector<float>{1}).status().message(), HasSubstr("leave no token"));
}

TEST(SamplerLogits, DrawsFollowTheChangedLogits) {
  const std::vector<float> logits = {0, 0, 0, 0};
  Sampler sampler({.temperature = 1, .logit_bias = {{1, -100}, {3, -100}}}, {}, 4);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(sampler.Sample(logits).value() % 2, 0);
}

TEST(SamplerLogits, Validation) {
  const auto message = [](const SamplingParams& params) {
    return ValidateSamplingParams(params, 10).message();
  };
  EXPECT_EQ(message({.repetition_penalty = 1.3F,
                     .frequency_penalty = -2,
                     .presence_penalty = 2,
                     .logit_bias = {{9, 100}, {0, -100}}}),
            "");
  for (const float bad : {0.0F, -1.0F, NAN, INFINITY}) {
    EXPECT_THAT(message({.repetition_penalty = bad}), HasSubstr("repetition_penalty is "));
  }
  for (const float bad : {2.1F, -3.0F, NAN}) {
    EXPECT_THAT(message({.frequency_penalty = bad}), HasSubstr("frequency_penalty is "));
    EXPECT_THAT(message({.presence_penalty = bad}), HasSubstr("presence_penalty is "));
  }
  EXPECT_THAT(message({.logit_bias = {{10, 0}}}), HasSubstr("names token 10, want 0 to 9"));
  EXPECT_THAT(message({.logit_bias = {{-1, 0}}}), HasSubstr("names token -1"));
  EXPECT_THAT(message({.logit_bias = {{1, 101}}}), HasSubstr("want biases in [-100, 100]"));
}

}  // namespace
}  // namespace gdn
