// SPDX-License-Identifier: Apache-2.0
#include "engine/sampler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

namespace gdn {

static void PrintTo(const SamplingParams& params, std::ostream* out) {
  *out << "temperature " << params.temperature << ", top_k " << params.top_k << ", top_p "
       << params.top_p << ", min_p " << params.min_p << ", seed " << params.seed;
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

int32_t SampleOnce(const SamplingParams& params, const std::vector<float>& logits) {
  Sampler sampler(params, {}, static_cast<int64_t>(logits.size()));
  const Result<int32_t> id = sampler.Sample(logits);
  EXPECT_TRUE(id.ok()) << id.status().message();
  return id.ok() ? *id : -1;
}

std::vector<int> Counts(const SamplingParams& params, const std::vector<float>& logits, int draws) {
  Sampler sampler(params, {}, static_cast<int64_t>(logits.size()));
  std::vector<int> counts(logits.size());
  for (int i = 0; i < draws; ++i) ++counts[static_cast<size_t>(*sampler.Sample(logits))];
  return counts;
}

// The ids ever drawn: the kept set, when no kept token is rare.
std::vector<int> Kept(const SamplingParams& params, const std::vector<float>& logits,
                      int draws = 2000) {
  const std::vector<int> counts = Counts(params, logits, draws);
  std::vector<int> kept;
  for (size_t id = 0; id < counts.size(); ++id) {
    if (counts[id] > 0) kept.push_back(static_cast<int>(id));
  }
  return kept;
}

// The distribution after all filters, by sorting everything, in double.
std::vector<double> Expected(const SamplingParams& params, const std::vector<float>& logits) {
  std::vector<size_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  if (params.top_k > 0 && static_cast<size_t>(params.top_k) < order.size()) {
    order.resize(static_cast<size_t>(params.top_k));
  }
  const auto weight = [&](size_t id) {
    return std::exp((double{logits[id]} - logits[order[0]]) / params.temperature);
  };
  double total = 0;
  for (const size_t id : order) total += weight(id);
  double sum = 0;
  size_t count = 0;
  while (count < order.size() && sum < params.top_p * total) sum += weight(order[count++]);
  order.resize(count);
  std::erase_if(order, [&](size_t id) { return weight(id) < double{params.min_p}; });
  std::vector<double> p(logits.size());
  total = 0;
  for (const size_t id : order) total += weight(id);
  for (const size_t id : order) p[id] = weight(id) / total;
  return p;
}

// Chi-square over the tokens that can be drawn; tokens that cannot must not be. Rare ones are
// pooled. The mean of chi-square is its degrees of freedom f, its variance 2 f: five deviations are
// allowed.
void ExpectFollows(const std::vector<int>& counts, const std::vector<double>& p, int draws) {
  double chi2 = 0;
  double pooled_want = 0;
  double pooled_got = 0;
  int bins = 0;
  for (size_t id = 0; id < p.size(); ++id) {
    if (p[id] == 0) {
      ASSERT_EQ(counts[id], 0) << id;
      continue;
    }
    pooled_want += p[id] * draws;
    pooled_got += counts[id];
    if (pooled_want < 10) continue;
    chi2 += (pooled_got - pooled_want) * (pooled_got - pooled_want) / pooled_want;
    pooled_want = pooled_got = 0;
    ++bins;
  }
  const double f = std::max(1, bins - 1);
  EXPECT_LE(chi2, f + 5 * std::sqrt(2 * f));
}

std::vector<float> NormalLogits(size_t n, uint64_t seed, double deviation) {
  Rng rng(seed);
  std::vector<float> logits(n);
  for (float& x : logits) x = static_cast<float>(rng.NextNormal() * deviation);
  return logits;
}

TEST(Greedy, TakesTheHighestAndOfTiesTheLowestId) {
  EXPECT_EQ(SampleOnce({}, {1, 3, 2}), 1);
  EXPECT_EQ(SampleOnce({}, {1, 3, 3, 3}), 1);
  EXPECT_EQ(SampleOnce({}, {-0.0F, 0.0F}), 0);
  EXPECT_EQ(SampleOnce({}, {0.0F, -0.0F}), 0);
  EXPECT_EQ(SampleOnce({}, {5}), 0);
  std::vector<float> logits(248320, -1.0F);
  for (const size_t id : {248319UL, 248064UL, 256UL, 255UL, 0UL}) {
    logits[id] = 2 + static_cast<float>(248320 - id);
    EXPECT_EQ(SampleOnce({}, logits), static_cast<int32_t>(id));
  }
}

TEST(Greedy, NeverTakesNan) {
  EXPECT_EQ(SampleOnce({}, {kNan, 1, kNan, 2, kNan}), 3);
  EXPECT_EQ(SampleOnce({}, {kNan, -kInf, -5}), 2);
  EXPECT_EQ(SampleOnce({}, {kNan, 1, kInf}), 2);
  std::vector<float> logits(1000, kNan);
  logits[777] = -3e38F;
  EXPECT_EQ(SampleOnce({}, logits), 777);
}

TEST(Sampler, SaysSoWhereNoTokenCanBeChosen) {
  for (const SamplingParams& params :
       {SamplingParams{}, SamplingParams{.temperature = 1, .top_k = 2, .top_p = 0.5F}}) {
    Sampler sampler(params, {}, 3);
    const Result<int32_t> id = sampler.Sample(std::vector<float>{kNan, -kInf, kNan});
    EXPECT_EQ(id.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(id.status().message(), HasSubstr("all 3 logits are NaN or -inf"));
    EXPECT_EQ(*sampler.Sample(std::vector<float>{kNan, 1, kNan}), 1);  // and goes on
  }
}

TEST(TopK, KeepsTheFirstKWithTiesByLowerId) {
  const std::vector<float> logits = {1, 2, 2, 0, 2, 1};
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 1}, logits), ElementsAre(1));
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 2}, logits), ElementsAre(1, 2));
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 3}, logits), ElementsAre(1, 2, 4));
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 4}, logits), ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 5}, logits), ElementsAre(0, 1, 2, 4, 5));
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 6}, logits), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 1000}, logits), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 3}, {kNan, -1, kNan, -2, -kInf}), ElementsAre(1, 3));
}

TEST(TopP, KeepsTheShortestPrefixThatReachesP) {
  // Probabilities 1/8, 1/2, 1/4, 1/8.
  const float ln2 = std::log(2.0F);
  const std::vector<float> logits = {ln2, 3 * ln2, 2 * ln2, ln2};
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 1e-30F}, logits), ElementsAre(1));
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.49F}, logits), ElementsAre(1));
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.51F}, logits), ElementsAre(1, 2));
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.74F}, logits), ElementsAre(1, 2));
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.76F}, logits), ElementsAre(0, 1, 2));
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.88F}, logits), ElementsAre(0, 1, 2, 3));
  // Equal weights have exact sums: reaching p is enough, and ties go by id.
  const std::vector<float> equal(4, -7.0F);
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.25F}, equal), ElementsAre(0));
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.5F}, equal), ElementsAre(0, 1));
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.5001F}, equal), ElementsAre(0, 1, 2));
}

TEST(TopP, IsTheShareOfWhatTopKLeft) {
  const std::vector<float> equal(8, 1.0F);
  // Half of the first four, not of all eight; a tie is cut twice.
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 4, .top_p = 0.5F}, equal), ElementsAre(0, 1));
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 3, .top_p = 0.99F}, equal), ElementsAre(0, 1, 2));
}

TEST(MinP, IsRelativeToTheFirstToken) {
  const float ln2 = std::log(2.0F);
  const std::vector<float> logits = {ln2, 3 * ln2, 2 * ln2, ln2};
  EXPECT_THAT(Kept({.temperature = 1, .min_p = 1}, logits), ElementsAre(1));
  EXPECT_THAT(Kept({.temperature = 1, .min_p = 0.51F}, logits), ElementsAre(1));
  EXPECT_THAT(Kept({.temperature = 1, .min_p = 0.49F}, logits), ElementsAre(1, 2));
  EXPECT_THAT(Kept({.temperature = 1, .min_p = 0.24F}, logits), ElementsAre(0, 1, 2, 3));
  // The temperature comes first: at 2 the weights are 1/2, 1, 0.71, 1/2.
  EXPECT_THAT(Kept({.temperature = 2, .min_p = 0.6F}, logits), ElementsAre(1, 2));
  EXPECT_THAT(Kept({.temperature = 1, .min_p = 1}, {3, 3, 2}), ElementsAre(0, 1));
  // After top-p: that of all tokens, not of those that min-p would leave.
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.76F, .min_p = 0.24F}, logits),
              ElementsAre(0, 1, 2));
}

class Distribution : public testing::TestWithParam<SamplingParams> {};

TEST_P(Distribution, FollowsTheFilteredSoftmax) {
  constexpr int kDraws = 2000;
  for (const size_t n : {5UL, 300UL, 700UL}) {  // less than one block, and several
    for (const double deviation : {0.0, 2.0}) {
      const std::vector<float> logits = NormalLogits(n, n, deviation);
      ExpectFollows(Counts(GetParam(), logits, kDraws), Expected(GetParam(), logits), kDraws);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Distribution,
    testing::Values(
        SamplingParams{.temperature = 1, .seed = 1}, SamplingParams{.temperature = 0.3F, .seed = 2},
        SamplingParams{.temperature = 3, .seed = 3},
        SamplingParams{.temperature = 1, .top_k = 7, .seed = 4},
        SamplingParams{.temperature = 1, .top_k = 290, .seed = 5},
        SamplingParams{.temperature = 1, .top_p = 0.813F, .seed = 6},
        SamplingParams{.temperature = 0.7F, .top_p = 0.1003F, .seed = 7},
        SamplingParams{.temperature = 1, .min_p = 0.1F, .seed = 8},
        SamplingParams{
            .temperature = 1.5F, .top_k = 50, .top_p = 0.9011F, .min_p = 0.05F, .seed = 9}),
    [](const auto& param_info) { return "case" + std::to_string(param_info.param.seed); });

// A draw is the inverse of the distribution function, tokens laid on [0, 1) by id, at the request's
// own uniform number. A token kept or dropped wrongly would move the others by its share.
void ExpectDrawsByUniformNumbers(const SamplingParams& params, const std::vector<float>& logits,
                                 int draws) {
  const std::vector<double> p = Expected(params, logits);
  Sampler sampler(params, {}, static_cast<int64_t>(logits.size()));
  Rng rng(params.seed);
  for (int i = 0; i < draws; ++i) {
    const Result<int32_t> drawn = sampler.Sample(logits);
    ASSERT_TRUE(drawn.ok());
    const auto id = static_cast<size_t>(*drawn);
    const double u = rng.NextUniform();
    const double before = std::accumulate(p.begin(), p.begin() + *drawn, 0.0);
    ASSERT_GT(p[id], 0) << id;
    ASSERT_GE(u, before - 1e-6) << id;
    ASSERT_LE(u, before + p[id] + 1e-6) << id;
  }
}

TEST(Sampler, DrawsByTheUniformNumbersOfItsSeed) {
  const std::vector<float> logits = NormalLogits(1000, 3, 2);
  ExpectDrawsByUniformNumbers({.temperature = 1, .seed = 42}, logits, 500);
  ExpectDrawsByUniformNumbers({.temperature = 1, .top_k = 20, .top_p = 0.9003F, .seed = 43}, logits,
                              500);
}

TEST(Sampler, KeepsTheSortedSetOfALargeVocabulary) {
  constexpr size_t kVocab = 248320;
  for (const double deviation : {0.001, 3.0}) {
    std::vector<float> logits = NormalLogits(kVocab, 17, deviation);
    for (size_t id = 0; id < kVocab; id += 3)
      logits[id] = std::round(logits[id] * 16) / 16;  // ties
    ExpectDrawsByUniformNumbers({.temperature = 1, .seed = 1}, logits, 4);
    ExpectDrawsByUniformNumbers({.temperature = 1, .top_k = 40, .seed = 2}, logits, 4);
    ExpectDrawsByUniformNumbers({.temperature = 1, .top_k = 5000, .seed = 3}, logits, 4);
    ExpectDrawsByUniformNumbers({.temperature = 1, .top_p = 0.3001F, .seed = 4}, logits, 4);
    ExpectDrawsByUniformNumbers({.temperature = 1, .top_p = 0.9997F, .seed = 5}, logits, 4);
    ExpectDrawsByUniformNumbers(
        {.temperature = 0.5F, .top_k = 100, .top_p = 0.8001F, .min_p = 0.02F, .seed = 6}, logits,
        4);
  }
}

TEST(Sampler, SeedDecides) {
  const std::vector<float> a = NormalLogits(1000, 4, 1);
  const std::vector<float> b = NormalLogits(1000, 5, 1);
  const SamplingParams params{.temperature = 1, .top_k = 100, .seed = 6};
  Sampler one(params, {}, 1000);
  Sampler two(params, {}, 1000);
  Sampler other({.temperature = 1, .top_k = 100, .seed = 7}, {}, 1000);
  int same_as_other = 0;
  for (int i = 0; i < 100; ++i) {
    const std::vector<float>& logits = i % 2 == 0 ? a : b;
    const int32_t id = *one.Sample(logits);
    EXPECT_EQ(*two.Sample(logits), id);
    same_as_other += *other.Sample(logits) == id ? 1 : 0;
  }
  EXPECT_LT(same_as_other, 30);
}

TEST(Sampler, ExtremeTemperatures) {
  const std::vector<float> logits = {1, 1.0000001F, 0.5F, -3e38F, 3e38F / 3e38F};
  for (const float tiny : {1e-30F, 1e-45F}) {
    EXPECT_THAT(Kept({.temperature = tiny}, logits), ElementsAre(1));
    EXPECT_THAT(Kept({.temperature = tiny, .top_k = 3, .top_p = 0.9F}, logits), ElementsAre(1));
  }
  EXPECT_THAT(Kept({.temperature = 3e38F}, {1, -50, 50}), ElementsAre(0, 1, 2));
  EXPECT_THAT(Kept({.temperature = 3e38F, .top_p = 0.5F}, {1, -50, 50}), ElementsAre(0, 2));
}

TEST(Sampler, ExtremeLogits) {
  EXPECT_THAT(Kept({.temperature = 1}, {1, kInf, 3e38F, kInf, kNan}), ElementsAre(1, 3));
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 1}, {1, kInf, 3e38F, kInf}), ElementsAre(1));
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.5F}, {1, kInf, 3e38F, kInf}), ElementsAre(1));
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.9F, .min_p = 0.5F}, {1, kInf, 3e38F, kInf}),
              ElementsAre(1, 3));
  EXPECT_THAT(Kept({.temperature = 1}, {-kInf, -3e38F, kNan, -3e38F}), ElementsAre(1, 3));
  EXPECT_THAT(Kept({.temperature = 1, .top_p = 0.99F}, {3e38F, -3e38F}), ElementsAre(0));
  EXPECT_THAT(Kept({.temperature = 1}, {0.0F, -0.0F}), ElementsAre(0, 1));
  EXPECT_THAT(Kept({.temperature = 1, .top_k = 1}, {-0.0F, 0.0F}), ElementsAre(0));
}

TEST(SamplingParams, Validation) {
  EXPECT_TRUE(ValidateSamplingParams({}).ok());
  EXPECT_TRUE(ValidateSamplingParams({1.5F, 40, 0.9F, 0.05F, 1}).ok());
  const auto expect_bad = [](const SamplingParams& params, const char* text) {
    const Status status = ValidateSamplingParams(params);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(text));
  };
  for (const float t : {-1.0F, kNan, kInf, -kInf}) {
    expect_bad({.temperature = t}, "sampling: temperature is ");
  }
  expect_bad({.top_k = -1}, "sampling: top_k is -1, want it >= 0");
  for (const float p : {0.0F, -0.5F, 1.5F, kNan}) {
    expect_bad({.top_p = p}, "sampling: top_p is ");
  }
  for (const float p : {-0.1F, 1.1F, kNan}) expect_bad({.min_p = p}, "sampling: min_p is ");
}

}  // namespace
}  // namespace gdn
