// SPDX-License-Identifier: Apache-2.0
// Two turns of a conversation through the engine with its prefix cache, timed: what the second one
// costs of the first. Its prompt is the first one's, the reply and a message.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/status.h"
#include "bench/stats.h"
#include "engine/engine.h"

namespace gdn {

struct TurnJob {
  int64_t prompt = 512;  // tokens of each, at least 1
  int64_t reply = 128;
  int64_t message = 32;

  int64_t second_prompt() const { return prompt + reply + message; }
  std::string Name() const;  // "turns512+128+32"
};

struct TurnResult {
  TurnJob job;
  Summary first_ms;       // from the submission to the first token, of the first turn
  Summary second_ms;      // and of the second
  int64_t cached = 0;     // tokens of the second prompt that are not computed again,
  int64_t processed = 0;  // and those that are
  // A processed token of the second turn in those of the first, from the same repetition.
  Summary ratio;
};

class TurnRunner {
 public:
  // One request at a time, with the states of every job's prompts.
  static EngineConfig Config(std::span<const TurnJob> jobs);

  static Result<std::unique_ptr<TurnRunner>> Create(std::unique_ptr<Model> model,
                                                    const EngineConfig& config);

  // One short run that is not counted, then repetitions >= 1, each with an empty cache.
  // on_repetition is called before each. Errors: those of the engine.
  Result<TurnResult> Measure(const TurnJob& job, int repetitions,
                             FunctionRef<void(int repetition)> on_repetition);

  const Model& model() const { return engine_->model(); }

 private:
  struct Turn {
    std::vector<int32_t> reply;
    double first_token_ms = 0;
    int64_t cached = 0;
  };

  explicit TurnRunner(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

  struct Sample {
    double first_ms = 0;
    double second_ms = 0;
    int64_t cached = 0;
  };

  Result<Sample> RunTurns(const TurnJob& job);
  Result<Turn> Run(std::span<const int32_t> prompt, int64_t new_tokens);
  std::vector<int32_t> RandomTokens(int64_t count, uint64_t seed) const;

  std::unique_ptr<Engine> engine_;
};

}  // namespace gdn
