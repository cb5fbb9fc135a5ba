// SPDX-License-Identifier: Apache-2.0
// Text over the engine: a prompt in, text out as it comes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "engine/engine.h"
#include "tokenizer/tokenizer.h"

namespace gdn {

struct SessionOptions {
  std::string model_dir;
  int num_threads = 1;
  ModelOptions model;
  EngineConfig engine;
};

struct GenerationParams {
  int64_t max_new_tokens = 128;
  SamplingParams sampling;
  bool stop_at_eos = true;
  int64_t num_top_logits = 0;     // largest logits to keep for each generated token
  bool log_probs = false;         // keep each token's log probability, too
  int64_t min_new_tokens = 0;     // no end-of-text token before so many
  std::vector<std::string> stop;  // strings that end the text, which does not hold them
};

struct Completion {
  std::vector<int32_t> prompt_tokens;
  std::vector<int32_t> tokens;  // generated, a stop token included
  std::string text;             // of the tokens, special ones left out; whole UTF-8 characters
  // [tokens][num_top_logits], largest first, before temperature and filters.
  std::vector<std::vector<TokenLogit>> top_logits;
  std::vector<double> log_probs;  // [tokens] natural logs, before temperature and filters
  int64_t num_cached_tokens = 0;  // of the prompt, from earlier requests
  FinishReason finish = FinishReason::kNone;
  double prompt_ms = 0;  // until the first token was there
  double gen_ms = 0;     // for the tokens after the first
};

class Session {
 public:
  // Checks that the memory is there, then loads tokenizer and model.
  static Result<std::unique_ptr<Session>> Load(const SessionOptions& options,
                                               LoadProgress progress);

  const Tokenizer& tokenizer() const { return tokenizer_; }
  const Engine& engine() const { return *engine_; }
  double load_ms() const { return load_ms_; }

  // on_text gets each piece of text, whole characters only. keep_going is asked before every step;
  // the completion ends as cancelled when it says no.
  Result<Completion> Complete(std::string_view prompt, const GenerationParams& params,
                              FunctionRef<void(std::string_view piece)> on_text,
                              FunctionRef<bool()> keep_going);
  // The same of a prompt that is tokens already; ids may be any of the model's vocabulary.
  Result<Completion> CompleteTokens(std::vector<int32_t> prompt_tokens,
                                    const GenerationParams& params,
                                    FunctionRef<void(std::string_view piece)> on_text,
                                    FunctionRef<bool()> keep_going);

 private:
  Session(std::unique_ptr<ThreadPool> pool, Tokenizer tokenizer, std::unique_ptr<Engine> engine,
          double load_ms);

  std::unique_ptr<ThreadPool> pool_;  // outlives the engine's model
  Tokenizer tokenizer_;
  std::unique_ptr<Engine> engine_;
  double load_ms_;
};

}  // namespace gdn
