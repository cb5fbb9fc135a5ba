// SPDX-License-Identifier: Apache-2.0
#include "bench/turn_runner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/rng.h"
#include "base/str.h"

namespace gdn {
namespace {

constexpr int64_t kWarmUpPrompt = 512;
constexpr int64_t kWarmUpReply = 4;

}  // namespace

std::string TurnJob::Name() const { return StrCat("turns", prompt, "+", reply, "+", message); }

EngineConfig TurnRunner::Config(std::span<const TurnJob> jobs) {
  EngineConfig config;
  for (const TurnJob& job : jobs) {
    config.context_tokens = std::max(config.context_tokens, job.second_prompt() + 1);
  }
  // The last two of each turn.
  config.num_snapshots = 4 + config.context_tokens / config.snapshot_interval;
  return config;
}

Result<std::unique_ptr<TurnRunner>> TurnRunner::Create(std::unique_ptr<Model> model,
                                                       const EngineConfig& config) {
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, Engine::Create(std::move(model), config));
  return std::unique_ptr<TurnRunner>(new TurnRunner(std::move(engine)));
}

std::vector<int32_t> TurnRunner::RandomTokens(int64_t count, uint64_t seed) const {
  Rng rng(seed);
  std::vector<int32_t> out(static_cast<size_t>(count));
  const auto vocab = static_cast<uint64_t>(engine_->model().config().vocab_size);
  std::ranges::generate(out, [&] { return static_cast<int32_t>(rng.NextBelow(vocab)); });
  return out;
}

Result<TurnRunner::Turn> TurnRunner::Run(std::span<const int32_t> prompt, int64_t new_tokens) {
  Turn turn;
  Status error;
  const auto start = std::chrono::steady_clock::now();
  GDN_RETURN_IF_ERROR(
      engine_->Submit({.prompt = {prompt.begin(), prompt.end()}, .max_new_tokens = new_tokens})
          .status());
  const auto on_event = [&](const TokenEvent& event) {
    if (event.finish == FinishReason::kError) error = event.error;
    if (event.token < 0) return;
    if (turn.reply.empty()) {
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start;
      turn.first_token_ms = took.count();
      turn.cached = event.num_cached_tokens;
    }
    turn.reply.push_back(event.token);
  };
  while (engine_->HasWork()) GDN_RETURN_IF_ERROR(engine_->Step(on_event));
  GDN_RETURN_IF_ERROR(error);
  return turn;
}

Result<TurnRunner::Sample> TurnRunner::RunTurns(const TurnJob& job) {
  engine_->ClearPrefixCache();
  std::vector<int32_t> tokens = RandomTokens(job.prompt, 1);
  GDN_ASSIGN_OR_RETURN(const Turn first, Run(tokens, job.reply));
  const std::vector<int32_t> message = RandomTokens(job.message, 2);
  tokens.insert(tokens.end(), first.reply.begin(), first.reply.end());
  tokens.insert(tokens.end(), message.begin(), message.end());
  GDN_ASSIGN_OR_RETURN(const Turn second, Run(tokens, 1));
  return Sample{first.first_token_ms, second.first_token_ms, second.cached};
}

Result<TurnResult> TurnRunner::Measure(const TurnJob& job, int repetitions,
                                       FunctionRef<void(int repetition)> on_repetition) {
  GDN_CHECK(repetitions >= 1);
  TurnResult out{.job = job};
  std::vector<double> first, second, ratio;
  on_repetition(0);
  TurnJob warm_up = job;
  warm_up.prompt = std::min(warm_up.prompt, kWarmUpPrompt);
  warm_up.reply = std::min(warm_up.reply, kWarmUpReply);
  GDN_RETURN_IF_ERROR(RunTurns(warm_up).status());
  for (int i = 1; i <= repetitions; ++i) {
    on_repetition(i);
    GDN_ASSIGN_OR_RETURN(const Sample sample, RunTurns(job));
    out.cached = sample.cached;
    out.processed = job.second_prompt() - sample.cached;
    first.push_back(sample.first_ms);
    second.push_back(sample.second_ms);
    ratio.push_back(sample.second_ms / static_cast<double>(out.processed) /
                    (sample.first_ms / static_cast<double>(job.prompt)));
  }
  out.first_ms = Summarize(first);
  out.second_ms = Summarize(second);
  out.ratio = Summarize(ratio);
  return out;
}

}  // namespace gdn
