// SPDX-License-Identifier: Apache-2.0
#include "engine/sampler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "base/check.h"
#include "base/str.h"

namespace gdn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Blocks whose highest logit is out of question are skipped whole. 256 logits fill 16 cache lines,
// and a vocabulary of 248320 has 970 blocks.
constexpr size_t kBlock = 256;

// Keys are divided 8 bits at a time: histograms that small cost little to clear.
constexpr int kLevelBits = 8;
constexpr size_t kBins = 256;  // and one behind them for tokens that do not count
constexpr size_t kHistograms = 4;

// Without the branch that keeps the compiler from making vectors.
inline float ZeroUnless(bool condition, float x) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) & (0U - static_cast<uint32_t>(condition)));
}

// e^x for x <= 0, to about 2 ulp, 0 below -87 and for NaN. In plain arithmetic, so that it has the
// same bits on every machine and the compiler can make vectors of it.
inline float Exp(float x) {
  constexpr float kRoundToInteger = 0x1.8p23F;
  constexpr float kLn2High = 0.693145751953125F;  // n times this is exact
  constexpr float kLn2Low = 1.42860682e-6F;
  const bool in_range = x >= -87.0F;
  const float clamped = ZeroUnless(in_range, x);
  const float n = (clamped * 1.44269504F + kRoundToInteger) - kRoundToInteger;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  float p = 1.0F / 5040;
  p = p * r + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const float power = std::bit_cast<float>((static_cast<int32_t>(n) + 127) * (1 << 23));
  return ZeroUnless(in_range, p * power);
}

inline float Weight(float logit, float max, float temperature) {
  const float scaled = (logit - max) / temperature;
  return Exp(ZeroUnless(logit != max, scaled));  // +inf - +inf is NaN
}

// Unsigned integers in the order of the logits; the two zeros are one.
inline uint32_t KeyOf(float logit) {
  const auto bits = std::bit_cast<uint32_t>(logit + 0.0F);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

inline float LogitOf(uint32_t key) {
  return std::bit_cast<float>((key & 0x80000000U) != 0 ? key & 0x7FFFFFFFU : ~key);
}

}  // namespace

Status ValidateSamplingParams(const SamplingParams& params, int64_t vocab_size) {
  const auto bad = [](const char* name, auto value, const char* want) {
    return InvalidArgument(StrCat("sampling: ", name, " is ", value, ", want ", want));
  };
  if (!(params.temperature >= 0) || !std::isfinite(params.temperature)) {
    return bad("temperature", params.temperature, "a finite number >= 0 (0 is greedy)");
  }
  if (params.top_k < 0) return bad("top_k", params.top_k, "it >= 0 (0 is off)");
  if (!(params.top_p > 0 && params.top_p <= 1)) {
    return bad("top_p", params.top_p, "it in (0, 1] (1 is off)");
  }
  if (!(params.min_p >= 0 && params.min_p <= 1)) {
    return bad("min_p", params.min_p, "it in [0, 1] (0 is off)");
  }
  if (!(params.repetition_penalty > 0) || !std::isfinite(params.repetition_penalty)) {
    return bad("repetition_penalty", params.repetition_penalty, "a finite number > 0 (1 is off)");
  }
  if (!(std::abs(params.frequency_penalty) <= 2)) {
    return bad("frequency_penalty", params.frequency_penalty, "it in [-2, 2] (0 is off)");
  }
  if (!(std::abs(params.presence_penalty) <= 2)) {
    return bad("presence_penalty", params.presence_penalty, "it in [-2, 2] (0 is off)");
  }
  for (const TokenBias& entry : params.logit_bias) {
    if (entry.token < 0 || entry.token >= vocab_size) {
      return InvalidArgument(
          StrCat("sampling: logit_bias names token ", entry.token, ", want 0 to ", vocab_size - 1));
    }
    if (!(std::abs(entry.bias) <= 100)) {
      return InvalidArgument(
          StrCat("sampling: logit_bias holds ", entry.bias, ", want biases in [-100, 100]"));
    }
  }
  return OkStatus();
}

Sampler::Sampler(const SamplingParams& params, const SamplerContext& context, int64_t vocab_size)
    : params_(params),
      rng_(params.seed),
      vocab_size_(static_cast<size_t>(vocab_size)),
      min_new_tokens_(context.min_new_tokens) {
  GDN_CHECK(vocab_size >= 1 && vocab_size <= std::numeric_limits<int32_t>::max());
  GDN_CHECK(ValidateSamplingParams(params, vocab_size).ok());
  const size_t blocks = (vocab_size_ + kBlock - 1) / kBlock;
  block_max_.resize(blocks);
  for (const int32_t id : context.stop_token_ids) {
    if (id >= 0 && id < vocab_size) stop_token_ids_.push_back(id);
  }
  const bool repetition = params.repetition_penalty != 1;
  const bool penalties =
      repetition || params.frequency_penalty != 0 || params.presence_penalty != 0;
  if (penalties) {
    counts_.resize(vocab_size_);
    seen_.reserve(vocab_size_);
  }
  if (repetition) {
    in_prompt_.resize(vocab_size_);
    for (const int32_t token : context.prompt) {
      uint8_t& in_prompt = in_prompt_[static_cast<size_t>(token)];
      if (in_prompt == 0) seen_.push_back(token);
      in_prompt = 1;
    }
  }
  if (penalties || !params.logit_bias.empty() ||
      (min_new_tokens_ > 0 && !stop_token_ids_.empty())) {
    adjusted_.resize(vocab_size_);
  }
  if (params_.temperature == 0) return;
  sorted_max_.resize(blocks);
  block_sum_.resize(blocks);
  histogram_.resize((kBins + 1) * kHistograms);
}

std::span<const float> Sampler::Adjust(std::span<const float> logits) {
  std::ranges::copy(logits, adjusted_.begin());
  for (const TokenBias& entry : params_.logit_bias) {
    adjusted_[static_cast<size_t>(entry.token)] += entry.bias;
  }
  if (num_new_tokens_ < min_new_tokens_) {
    for (const int32_t id : stop_token_ids_) adjusted_[static_cast<size_t>(id)] = -kInfinity;
  }
  for (const int32_t token : seen_) {
    const auto id = static_cast<size_t>(token);
    float& logit = adjusted_[id];
    const float penalty = params_.repetition_penalty;
    if (penalty != 1) logit = logit > 0 ? logit / penalty : logit * penalty;
    const int32_t count = counts_[id];
    logit -= params_.frequency_penalty * static_cast<float>(count);
    if (count > 0) logit -= params_.presence_penalty;
  }
  return adjusted_;
}

Result<int32_t> Sampler::Sample(std::span<const float> logits) {
  GDN_CHECK(logits.size() == vocab_size_);
  GDN_ASSIGN_OR_RETURN(const int32_t token, Choose(changes_logits() ? Adjust(logits) : logits));
  ++num_new_tokens_;
  if (!counts_.empty()) {
    const auto id = static_cast<size_t>(token);
    const bool known = counts_[id] > 0 || (!in_prompt_.empty() && in_prompt_[id] != 0);
    ++counts_[id];
    if (!known) seen_.push_back(token);
  }
  return token;
}

Result<int32_t> Sampler::TakeLargest(int32_t token) {
  GDN_CHECK(takes_largest());
  if (token < 0) return NothingToChoose();
  ++num_new_tokens_;
  return token;
}

Status Sampler::NothingToChoose() const {
  return InvalidArgument(
      StrCat("sampler: all ", vocab_size_,
             " logits are NaN or -inf, want one number among them: the model's weights are "
             "broken, or logit_bias and min_new_tokens leave no token"));
}

Result<int32_t> Sampler::Choose(std::span<const float> logits) {
  logits_ = logits;
  FindBlockMaxima();
  if (max_ == -kInfinity) return NothingToChoose();
  if (params_.temperature == 0) return NthTie(max_, 1);
  Prefix kept{-kInfinity, std::numeric_limits<int32_t>::max()};
  if (params_.top_k > 0) kept = TopK(kept);
  if (params_.top_p < 1) kept = TopP(kept);
  return Draw(kept);
}

size_t Sampler::BlockSize(size_t block) const {
  return std::min(kBlock, vocab_size_ - block * kBlock);
}

void Sampler::FindBlockMaxima() {
  constexpr size_t kLanes = 16;
  max_ = -kInfinity;
  for (size_t block = 0; block < block_max_.size(); ++block) {
    const float* logits = logits_.data() + block * kBlock;
    const size_t size = BlockSize(block);
    std::array<float, kLanes> lane;
    lane.fill(-kInfinity);
    size_t i = 0;
    for (; i + kLanes <= size; i += kLanes) {
      for (size_t j = 0; j < kLanes; ++j) {
        lane[j] = logits[i + j] > lane[j] ? logits[i + j] : lane[j];  // not so for NaN
      }
    }
    for (; i < size; ++i) lane[0] = logits[i] > lane[0] ? logits[i] : lane[0];
    block_max_[block] = *std::ranges::max_element(lane);
    max_ = std::max(max_, block_max_[block]);
  }
}

// The id of the n-th token of this logit, or of the last one.
int32_t Sampler::NthTie(float logit, int64_t n) const {
  size_t found = 0;
  for (size_t block = 0; block < block_max_.size() && n > 0; ++block) {
    if (block_max_[block] < logit) continue;
    const size_t first = block * kBlock;
    for (size_t id = first; id < first + BlockSize(block) && n > 0; ++id) {
      if (logits_[id] != logit) continue;
      found = id;
      --n;
    }
  }
  return static_cast<int32_t>(found);
}

Sampler::Prefix Sampler::TopK(Prefix within) {
  const auto k = static_cast<size_t>(params_.top_k);
  if (k >= vocab_size_) return within;
  float floor = -kInfinity;
  if (k <=
      block_max_.size()) {  // k blocks have a logit at least as high as the k-th highest maximum
    sorted_max_ = block_max_;
    const auto kth = sorted_max_.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::ranges::nth_element(sorted_max_, kth, std::greater<>());
    floor = *kth;
  }
  Prefix found = within;
  FindPrefix(within, floor, static_cast<double>(k), Measure::kCount, &found);
  return found;
}

Sampler::Prefix Sampler::TopP(Prefix within) {
  const double target = static_cast<double>(params_.top_p) * SumBlocks(within, 0);
  Prefix found = within;
  // Tokens that weigh less than e^-10 of the first are seldom needed, and are nearly all tokens.
  const float floor = max_ - 10.0F * params_.temperature;
  if (!FindPrefix(within, floor, target, Measure::kWeight, &found)) {
    FindPrefix(within, -kInfinity, target, Measure::kWeight, &found);
  }
  return found;
}

// The shortest prefix of within whose measure reaches target, found by the bits of its last logit,
// highest bits first. False where all tokens of within from floor on do not reach it.
bool Sampler::FindPrefix(Prefix within, float floor, double target, Measure measure,
                         Prefix* found) {
  double above = 0;  // the measure of the bins before the current one
  uint32_t key = 0;  // the bits found so far
  for (int shift = 32 - kLevelBits; shift >= 0; shift -= kLevelBits) {
    FillHistogram(within, floor, key, shift, measure);
    size_t last = kBins;  // the last bin that holds anything
    double before = above;
    for (size_t bin = kBins; bin-- > 0;) {
      if (histogram_[bin] == 0) continue;
      before = above;
      last = bin;
      above += histogram_[bin];
      if (above >= target) break;
    }
    // Below the first level the bins add up to one that reached the target, but for rounding.
    if (last == kBins || (shift == 32 - kLevelBits && above < target)) return false;
    above = before;
    key |= static_cast<uint32_t>(last) << shift;
    floor = std::max(floor, LogitOf(key));
  }
  const float logit = LogitOf(key);
  const double each = measure == Measure::kCount ? 1 : Weight(logit, max_, params_.temperature);
  const double ties = std::clamp(std::ceil((target - above) / each), 1.0, 0x1p31);
  *found = {logit, NthTie(logit, static_cast<int64_t>(ties))};
  if (logit == within.logit) found->last_id = std::min(found->last_id, within.last_id);
  return true;
}

// histogram_[bin] = the measure of the tokens of within, from floor on, whose key begins with the
// bits of first_key above this level, and has the bits bin in it.
void Sampler::FillHistogram(Prefix within, float floor, uint32_t first_key, int shift,
                            Measure measure) {
  const auto known = static_cast<uint32_t>(~uint64_t{0} << (shift + kLevelBits));
  std::ranges::fill(histogram_, 0.0);
  std::array<float, kBlock> weights;
  std::array<uint32_t, kBlock> bins;
  weights.fill(1.0F);
  for (size_t block = 0; block < block_max_.size(); ++block) {
    if (block_max_[block] < floor) continue;
    if (measure == Measure::kWeight) FillWeights(block, within, 0, weights.data());
    const float* logits = logits_.data() + block * kBlock;
    const size_t size = BlockSize(block);
    for (size_t i = 0; i < size; ++i) {
      const uint32_t key = KeyOf(logits[i]);
      const bool counts = (logits[i] >= floor) & (((key ^ first_key) & known) == 0);
      bins[i] = counts ? (key >> shift) % kBins : kBins;
    }
    // Neighbours often share a bin, and would wait for one another's sums in one histogram.
    for (size_t i = 0; i < size; ++i) {
      histogram_[bins[i] * kHistograms + i % kHistograms] += static_cast<double>(weights[i]);
    }
  }
  for (size_t bin = 0; bin < kBins; ++bin) {
    double sum = 0;
    for (size_t i = 0; i < kHistograms; ++i) sum += histogram_[bin * kHistograms + i];
    histogram_[bin] = sum;
  }
}

// weights[i] for the block's tokens; 0 for those that are not kept or weigh less than min_weight.
void Sampler::FillWeights(size_t block, Prefix kept, float min_weight, float* weights) const {
  const float* logits = logits_.data() + block * kBlock;
  const auto size = static_cast<int32_t>(BlockSize(block));
  const int32_t last = kept.last_id - static_cast<int32_t>(block * kBlock);
  const float max = max_;
  const float temperature = params_.temperature;
  for (int32_t i = 0; i < size; ++i) weights[i] = Weight(logits[i], max, temperature);
  for (int32_t i = 0; i < size; ++i) {
    const bool keep = (logits[i] > kept.logit) | ((logits[i] == kept.logit) & (i <= last));
    weights[i] = (keep & (weights[i] >= min_weight)) ? weights[i] : 0.0F;
  }
}

// Fills block_sum_; returns the sum of all.
double Sampler::SumBlocks(Prefix kept, float min_weight) {
  std::array<float, kBlock> weights;
  double total = 0;
  for (size_t block = 0; block < block_sum_.size(); ++block) {
    std::array<double, 4> sum{};
    if (block_max_[block] >= kept.logit &&
        Weight(block_max_[block], max_, params_.temperature) >= min_weight) {
      const size_t size = BlockSize(block);
      FillWeights(block, kept, min_weight, weights.data());
      std::fill(weights.begin() + static_cast<std::ptrdiff_t>(size), weights.end(), 0.0F);
      for (size_t i = 0; i < kBlock; i += sum.size()) {
        for (size_t j = 0; j < sum.size(); ++j) sum[j] += static_cast<double>(weights[i + j]);
      }
    }
    block_sum_[block] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    total += block_sum_[block];
  }
  return total;
}

int32_t Sampler::Draw(Prefix kept) {
  // Finds the last item with a weight whose predecessors weigh no more than target together.
  const auto pick = [](size_t count, const auto& weight, double* target) {
    size_t chosen = 0;
    double before = 0;
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      const auto w = static_cast<double>(weight[i]);
      if (w == 0) continue;
      if (sum > *target) break;
      chosen = i;
      before = sum;
      sum += w;
    }
    *target -= before;
    return chosen;
  };
  double target = SumBlocks(kept, params_.min_p) * rng_.NextUniform();
  const size_t block = pick(block_sum_.size(), block_sum_, &target);
  std::array<float, kBlock> weights;
  FillWeights(block, kept, params_.min_p, weights.data());
  return static_cast<int32_t>(block * kBlock + pick(BlockSize(block), weights, &target));
}

}  // namespace gdn
