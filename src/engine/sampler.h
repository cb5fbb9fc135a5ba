// SPDX-License-Identifier: Apache-2.0
// The choice of the next token from the logits of one request.
//
// First the logits change, in this order, each step only where its parameter is on:
//   logit_bias          is added;
//   stop tokens         become -inf while fewer than min_new_tokens have been generated;
//   repetition_penalty  divides positive and multiplies negative logits of tokens in the prompt or
//                       the answer;
//   frequency_penalty   is subtracted for each time that the answer has the token;
//   presence_penalty    is subtracted where the answer has it.
// (The order and the formulas of vLLM's sampler.) Then:
//
// weight_i = exp((logit_i - max) / temperature). Tokens are ordered by logit, highest first, ties
// to the lower id. The filters, in this order, each keep at least the first token:
//   top_k   the first k tokens;
//   top_p   of those, the shortest prefix whose weights reach the share p of their sum;
//   min_p   of those, the tokens whose weight is at least min_p (the first one's is 1).
// The token is drawn from the weights that are left, with one uniform number a token, so that a
// seed gives the same text whatever else is in the batch.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/rng.h"
#include "base/status.h"

namespace gdn {

struct TokenBias {
  int32_t token = 0;
  float bias = 0;
};

struct SamplingParams {
  float temperature = 0;  // 0: greedy, the first token; the other fields are then without effect
  int32_t top_k = 0;      // 0: off
  float top_p = 1;        // (0, 1]; 1: off
  float min_p = 0;        // [0, 1]; 0: off
  uint64_t seed = 0;
  float repetition_penalty = 1;       // > 0; 1: off
  float frequency_penalty = 0;        // [-2, 2]; 0: off
  float presence_penalty = 0;         // [-2, 2]; 0: off
  std::vector<TokenBias> logit_bias;  // ids below the vocabulary's size, biases in [-100, 100]
};

// Errors: kInvalidArgument, one line for the first bad field.
// Without a vocabulary's size the ids of logit_bias only have to be >= 0.
Status ValidateSamplingParams(const SamplingParams& params,
                              int64_t vocab_size = std::numeric_limits<int32_t>::max());

// What of a request the choice depends on besides its logits.
struct SamplerContext {
  std::span<const int32_t> prompt;          // ids below the vocabulary's size
  std::span<const int32_t> stop_token_ids;  // others are ignored
  int64_t min_new_tokens = 0;
};

class Sampler {
 public:
  // params are valid; vocab_size >= 1. Allocates all that Sample will use; keeps nothing of context
  // but copies.
  Sampler(const SamplingParams& params, const SamplerContext& context, int64_t vocab_size);
  // What one takes at most, nearly.
  static size_t MaxBytes(int64_t vocab_size) {
    return static_cast<size_t>(vocab_size) * (sizeof(float) + 2 * sizeof(int32_t) + 1);
  }

  // The next token of the answer. logits [vocab_size]. NaN and -inf are never chosen; where some
  // are +inf, only those are. Errors: kInvalidArgument where no token can be chosen. Allocates
  // nothing but an error's text.
  Result<int32_t> Sample(std::span<const float> logits);
  // Whether that is the first largest of the logits as they are.
  bool takes_largest() const { return params_.temperature == 0 && !changes_logits(); }
  // Then the same, for who knows it: -1 where there is none.
  Result<int32_t> TakeLargest(int32_t token);

 private:
  // Every filter but min_p keeps a prefix of the order: the tokens above a logit, and of those
  // equal to it the ids up to last_id. No filter has to sort.
  struct Prefix {
    float logit;
    int32_t last_id;
  };
  enum class Measure { kCount, kWeight };

  bool changes_logits() const { return !adjusted_.empty(); }
  std::span<const float> Adjust(std::span<const float> logits);
  Result<int32_t> Choose(std::span<const float> logits);
  Status NothingToChoose() const;
  void FindBlockMaxima();
  Prefix TopK(Prefix within);
  Prefix TopP(Prefix within);
  bool FindPrefix(Prefix within, float floor, double target, Measure measure, Prefix* found);
  void FillHistogram(Prefix within, float floor, uint32_t first_key, int shift, Measure measure);
  int32_t NthTie(float logit, int64_t n) const;
  double SumBlocks(Prefix kept, float min_weight);
  int32_t Draw(Prefix kept);
  void FillWeights(size_t block, Prefix kept, float min_weight, float* weights) const;
  size_t BlockSize(size_t block) const;

  SamplingParams params_;
  Rng rng_;
  size_t vocab_size_;
  std::span<const float> logits_;  // of the call under way
  float max_ = 0;
  std::vector<float> block_max_;   // [blocks] the highest logit of each block
  std::vector<float> sorted_max_;  // [blocks] scratch of TopK
  std::vector<double> block_sum_;  // [blocks] the weights kept in each block
  std::vector<double> histogram_;  // of FindPrefix

  std::vector<int32_t> stop_token_ids_;
  int64_t min_new_tokens_ = 0;
  int64_t num_new_tokens_ = 0;
  std::vector<float> adjusted_;     // [vocab_size] where logits change, else empty
  std::vector<int32_t> counts_;     // [vocab_size] of the answer's tokens, where a penalty is on
  std::vector<uint8_t> in_prompt_;  // [vocab_size] where repetition is penalised
  std::vector<int32_t> seen_;       // tokens that penalties reach, each once
};

}  // namespace gdn
