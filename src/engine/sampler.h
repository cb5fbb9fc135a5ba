// SPDX-License-Identifier: Apache-2.0
// The choice of the next token from the logits of one request.
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
#include <span>
#include <vector>

#include "base/rng.h"
#include "base/status.h"

namespace gdn {

struct SamplingParams {
  float temperature = 0;  // 0: greedy, the first token; the other fields are then without effect
  int32_t top_k = 0;      // 0: off
  float top_p = 1;        // (0, 1]; 1: off
  float min_p = 0;        // [0, 1]; 0: off
  uint64_t seed = 0;
};

// Errors: kInvalidArgument, one line for the first bad field.
Status ValidateSamplingParams(const SamplingParams& params);

class Sampler {
 public:
  // params are valid; vocab_size >= 1. Allocates all that Sample will use.
  Sampler(const SamplingParams& params, int64_t vocab_size);

  // logits [vocab_size]. NaN and -inf are never chosen; where some are +inf, only those are.
  // Errors: kInvalidArgument where no token can be chosen. Allocates nothing but an error's text.
  Result<int32_t> Sample(std::span<const float> logits);

 private:
  // Every filter but min_p keeps a prefix of the order: the tokens above a logit, and of those
  // equal to it the ids up to last_id. No filter has to sort.
  struct Prefix {
    float logit;
    int32_t last_id;
  };
  enum class Measure { kCount, kWeight };

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
};

}  // namespace gdn
