// SPDX-License-Identifier: Apache-2.0
// What a request for text may ask for, and what comes back of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/engine.h"

namespace gdn {

inline constexpr int64_t kMaxCompletions = 128;

struct GenerationParams {
  int64_t max_new_tokens = 128;
  SamplingParams sampling;
  bool stop_at_eos = true;
  int64_t num_top_logits = 0;           // largest logits to keep for each generated token
  bool log_probs = false;               // keep each token's log probability, too
  std::vector<int32_t> stop_token_ids;  // tokens that end the text, too, and are no part of it
  std::vector<std::string> stop;        // strings that end the text, which does not hold them
  int64_t min_new_tokens = 0;           // nothing ends the text before so many
  // Answers to one prompt, 1 to kMaxCompletions; number i has the seed sampling.seed + i.
  int64_t num_completions = 1;
  int32_t priority = 0;  // higher ones are served first
};

// What one token adds to a completion, or its end.
struct Chunk {
  int64_t completion = 0;  // of num_completions
  int32_t token = -1;      // -1: it ended without one
  // Whole characters that are certain with this token; special tokens have none. A reply's
  // reasoning is split off where the conversation's model marks it (reasoning_splitter.h).
  std::string text;
  std::string reasoning;
  std::optional<double> log_prob;      // natural log, before temperature and filters
  std::vector<TokenLogit> top_logits;  // largest first, before temperature and filters
  // With log_prob: the log probability of a token is its logit less this.
  std::optional<double> log_sum_exp;
  int64_t num_cached_tokens = 0;  // of the prompt, not computed for this completion
  // Not kNone: the last chunk of this completion, which holds what text was left.
  FinishReason finish = FinishReason::kNone;
  Status error;                                // why, with kError
  std::chrono::steady_clock::time_point time;  // when the token was there
};

// A whole answer.
struct Completion {
  std::vector<int32_t> tokens;  // generated, a stop token included
  std::string text;
  std::string reasoning;
  std::vector<std::vector<TokenLogit>> top_logits;  // [tokens][num_top_logits]
  std::vector<double> log_probs;                    // [tokens]
  int64_t num_cached_tokens = 0;
  FinishReason finish = FinishReason::kNone;
  double prompt_ms = 0;  // from the submission until the first token was there
  double gen_ms = 0;     // for the tokens after the first
};

}  // namespace gdn
