// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "base/str.h"
#include "ops/attention/attention.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"

namespace gdn {
namespace {

constexpr int64_t kDefaultContextCap = 4096;

int64_t BlocksFor(int64_t tokens) { return (tokens + kKvBlockSize - 1) / kKvBlockSize; }

}  // namespace

const char* Name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kNone:
      return "none";
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kError:
      return "error";
  }
  return "?";
}

int64_t Engine::DefaultContext(const ModelConfig& config) {
  return std::min(config.max_positions, kDefaultContextCap);
}

Result<RunLimits> Engine::Limits(const ModelConfig& model, const EngineConfig& config) {
  const int64_t context =
      config.context_tokens == 0 ? DefaultContext(model) : config.context_tokens;
  if (context < 1 || context > model.max_positions) {
    return InvalidArgument(
        StrCat("context is ", context, " tokens, want 1 to the model's ", model.max_positions));
  }
  if (config.max_seqs < 1) {
    return InvalidArgument(StrCat("max_seqs is ", config.max_seqs, ", want at least 1"));
  }
  if (config.prefill_tokens < kChunkSize || config.prefill_tokens % kChunkSize != 0) {
    return InvalidArgument(
        StrCat("prefill_tokens is ", config.prefill_tokens, ", want a multiple of ", kChunkSize));
  }
  // A short context needs no longer slices.
  const int64_t slice =
      std::min(config.prefill_tokens, (context + kChunkSize - 1) / kChunkSize * kChunkSize);
  return RunLimits{.max_tokens = slice + config.max_seqs,
                   .max_seqs = config.max_seqs,
                   .max_logit_rows = config.max_seqs,
                   .num_slots = config.max_seqs + 1,
                   .num_blocks = config.max_seqs * BlocksFor(context) + 1,
                   .max_positions = context};
}

Result<std::unique_ptr<Engine>> Engine::Create(std::unique_ptr<Model> model,
                                               const EngineConfig& config) {
  GDN_ASSIGN_OR_RETURN(const RunLimits limits, Limits(model->config(), config));
  GDN_RETURN_IF_ERROR(model->Plan(limits));
  return std::unique_ptr<Engine>(new Engine(std::move(model), config, limits));
}

Engine::Engine(std::unique_ptr<Model> model, const EngineConfig& config, const RunLimits& limits)
    : model_(std::move(model)),
      config_(config),
      limits_(limits),
      slots_(limits.num_slots),
      blocks_(limits.num_blocks),
      step_(limits) {
  running_.reserve(static_cast<size_t>(limits.max_seqs));
}

Result<RequestId> Engine::Submit(Request request) {
  const auto num_prompt = static_cast<int64_t>(request.prompt.size());
  if (num_prompt == 0) return InvalidArgument("prompt is empty, want at least one token");
  if (num_prompt >= limits_.max_positions) {
    return InvalidArgument(StrCat("prompt is ", num_prompt, " tokens, want at most ",
                                  limits_.max_positions - 1, " (context ", limits_.max_positions,
                                  ", one left to generate)"));
  }
  for (const int32_t token : request.prompt) {
    if (token < 0 || token >= model_->config().vocab_size) {
      return InvalidArgument(
          StrCat("prompt holds token ", token, ", want below ", model_->config().vocab_size));
    }
  }
  if (request.max_new_tokens < 1) {
    return InvalidArgument(
        StrCat("tokens to generate is ", request.max_new_tokens, ", want at least 1"));
  }
  if (request.num_top_logits < 0 || request.num_top_logits > kMaxTopLogits) {
    return InvalidArgument(
        StrCat("number of top logits is ", request.num_top_logits, ", want 0 to ", kMaxTopLogits));
  }
  GDN_RETURN_IF_ERROR(ValidateSamplingParams(request.sampling));
  const int64_t room = limits_.max_positions - num_prompt;
  const int64_t max_tokens = num_prompt + std::min(request.max_new_tokens, room);
  auto sequence = std::make_unique<Sequence>(Sequence{
      .id = next_id_++,
      .tokens = std::move(request.prompt),
      .num_prompt_tokens = num_prompt,
      .max_tokens = max_tokens,
      .stop_token_ids = std::move(request.stop_token_ids),
      .sampler = Sampler(request.sampling, model_->config().vocab_size),
      .top_logits = std::vector<TokenLogit>(static_cast<size_t>(request.num_top_logits)),
  });
  sequence->tokens.reserve(static_cast<size_t>(max_tokens));
  const RequestId id = sequence->id;
  waiting_.push_back(std::move(sequence));
  return id;
}

void Engine::Cancel(RequestId id) { cancelled_.push_back(id); }

void Engine::DropCancelled(FunctionRef<void(const TokenEvent&)> sink) {
  for (const RequestId id : cancelled_) {
    const auto is_it = [id](const auto& sequence) { return sequence->id == id; };
    const auto waiting = std::ranges::find_if(waiting_, is_it);
    const auto running = std::ranges::find_if(running_, is_it);
    if (waiting == waiting_.end() && running == running_.end()) continue;
    sink({.request = id, .finish = FinishReason::kCancelled});
    if (waiting != waiting_.end()) waiting_.erase(waiting);
    if (running != running_.end()) {
      Release(**running);
      running_.erase(running);
    }
  }
  cancelled_.clear();
}

void Engine::Admit() {
  // Blocks for the whole answer are taken at once, so that a running sequence never waits.
  while (!waiting_.empty() && slots_.num_free() > 0 &&
         blocks_.num_free() >= BlocksFor(waiting_.front()->max_tokens)) {
    std::unique_ptr<Sequence> sequence = std::move(waiting_.front());
    waiting_.pop_front();
    sequence->state_slot = slots_.Take();
    sequence->kv_blocks.resize(static_cast<size_t>(BlocksFor(sequence->max_tokens)));
    std::ranges::generate(sequence->kv_blocks, [this] { return blocks_.Take(); });
    running_.push_back(std::move(sequence));
  }
}

void Engine::Schedule() {
  step_.Clear();
  for (const auto& sequence : running_) {
    if (sequence->InPrefill()) continue;
    sequence->num_scheduled_tokens = 1;
    step_.Add(*sequence);
  }
  int64_t budget = limits_.max_tokens - config_.max_seqs;
  for (const auto& sequence : running_) {
    if (!sequence->InPrefill()) continue;
    const int64_t left = sequence->num_prompt_tokens - sequence->num_computed_tokens;
    // A slice that does not end its prompt ends at a chunk's end, so that slicing changes no bit.
    const int64_t slice = left <= budget ? left : budget / kChunkSize * kChunkSize;
    if (slice == 0) continue;
    budget -= slice;
    sequence->num_scheduled_tokens = slice;
    step_.Add(*sequence);
  }
}

void Engine::Accept(Sequence& sequence, std::span<const float> logits,
                    FunctionRef<void(const TokenEvent&)> sink) {
  const Result<int32_t> sampled = sequence.sampler.Sample(logits);
  if (!sampled.ok()) {
    Release(sequence);
    sink({.request = sequence.id, .finish = FinishReason::kError, .error = sampled.status()});
    return;
  }
  const int32_t token = *sampled;
  sequence.tokens.push_back(token);
  FindTopLogits(logits, sequence.top_logits);
  TokenEvent event{.request = sequence.id, .token = token, .top_logits = sequence.top_logits};
  if (std::ranges::find(sequence.stop_token_ids, token) != sequence.stop_token_ids.end()) {
    event.finish = FinishReason::kStop;
  } else if (sequence.num_tokens() >= sequence.max_tokens) {
    event.finish = FinishReason::kLength;
  }
  if (event.finish != FinishReason::kNone) Release(sequence);
  sink(event);
}

void Engine::Release(Sequence& sequence) {
  slots_.Give(sequence.state_slot);
  sequence.state_slot = 0;
  for (const int32_t block : sequence.kv_blocks) blocks_.Give(block);
  sequence.kv_blocks.clear();
}

Status Engine::Step(FunctionRef<void(const TokenEvent&)> sink) {
  DropCancelled(sink);
  Admit();
  Schedule();
  if (step_.empty()) return OkStatus();
  GDN_ASSIGN_OR_RETURN(const ConstTensor logits, model_->Forward(step_.batch()));
  const auto vocab = static_cast<size_t>(model_->config().vocab_size);
  for (size_t n = 0; n < step_.sequences().size(); ++n) {
    Sequence& sequence = *step_.sequences()[n];
    sequence.num_computed_tokens += sequence.num_scheduled_tokens;
    const int64_t row = step_.logit_index()[n];
    if (row >= 0) Accept(sequence, {logits.Row<float>(row), vocab}, sink);
  }
  std::erase_if(running_, [](const auto& sequence) { return sequence->state_slot == 0; });
  return OkStatus();
}

}  // namespace gdn
