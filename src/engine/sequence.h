// SPDX-License-Identifier: Apache-2.0
// One request inside the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/prefix_cache.h"
#include "engine/sampler.h"
#include "engine/top_logits.h"

namespace gdn {

using RequestId = uint64_t;

enum class FinishReason : uint8_t {
  kNone,    // still running
  kStop,    // a stop token was generated
  kLength,  // max_new_tokens, or the context is full
  kCancelled,
  kError,  // its logits were not numbers
};

struct Request {
  std::vector<int32_t> prompt;  // at least one token
  int64_t max_new_tokens = 1;
  std::vector<int32_t> stop_token_ids;
  SamplingParams sampling;
  int64_t num_top_logits = 0;  // largest logits to report with each token
  bool log_probs = false;      // report the log probability of each token, too
  int64_t min_new_tokens = 0;  // no stop token is chosen before so many
  int32_t priority = 0;        // higher ones are admitted first, equal ones in their order
};

struct Sequence {
  RequestId id = 0;
  std::vector<int32_t> tokens;  // prompt, then generated ones
  int64_t num_prompt_tokens = 0;
  int64_t num_computed_tokens = 0;  // whose states and KV rows are in the pools
  int64_t max_tokens = 0;           // prompt and generated ones
  int32_t priority = 0;
  std::vector<int32_t> stop_token_ids;
  SamplingParams sampling;
  int64_t min_new_tokens = 0;
  std::optional<Sampler> sampler;      // from its first admission on: it may hold a lot
  std::vector<TokenLogit> top_logits;  // of the step that has just run
  bool log_probs = false;
  int32_t state_slot = 0;
  std::vector<int32_t> kv_blocks;   // of its positions
  std::vector<int32_t> own_blocks;  // those of them that no node of the prefix cache owns
  PrefixCache::Node node = PrefixCache::kRoot;  // held: the path of its prompt in the cache
  int64_t num_node_blocks = 0;                  // of that path
  int64_t num_cached_tokens = 0;                // of the prompt, found when it was admitted
  int64_t num_scheduled_tokens = 0;             // of the step being run
  // Others wait for its prompt's first so many tokens, a multiple of kKvBlockSize; 0: nobody does.
  int64_t awaited_tokens = 0;
  std::vector<std::byte> saved;  // states, keys and values of a sequence that was preempted

  std::span<const int32_t> prompt() const {
    return std::span(tokens).first(static_cast<size_t>(num_prompt_tokens));
  }
  bool InPrefill() const { return num_computed_tokens < num_prompt_tokens; }
  // Of its logits nothing but the first largest.
  bool WantsLargest() const {
    return sampler.has_value() && sampler->takes_largest() && top_logits.empty() && !log_probs;
  }
  int64_t num_tokens() const { return static_cast<int64_t>(tokens.size()); }
};

}  // namespace gdn
