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
  if (config.max_seqs < 1 || config.max_seqs > kMaxSeqs) {
    return InvalidArgument(StrCat("max_seqs is ", config.max_seqs, ", want 1 to ", kMaxSeqs));
  }
  if (config.num_snapshots < 0) {
    return InvalidArgument(StrCat("num_snapshots is ", config.num_snapshots, ", want it >= 0"));
  }
  if (config.snapshot_interval < kKvBlockSize || config.snapshot_interval % kKvBlockSize != 0) {
    return InvalidArgument(StrCat("snapshot_interval is ", config.snapshot_interval,
                                  ", want a multiple of ", kKvBlockSize));
  }
  if (config.prefill_tokens < kChunkSize || config.prefill_tokens % kChunkSize != 0) {
    return InvalidArgument(
        StrCat("prefill_tokens is ", config.prefill_tokens, ", want a multiple of ", kChunkSize));
  }
  const int64_t kv_tokens = config.kv_tokens == 0
                                ? config.max_seqs * BlocksFor(context) * kKvBlockSize
                                : config.kv_tokens;
  if (BlocksFor(kv_tokens) < BlocksFor(context)) {
    return InvalidArgument(
        StrCat("kv_tokens is ", kv_tokens, ", want at least the context of ", context));
  }
  // A short context needs no longer slices.
  const int64_t slice =
      std::min(config.prefill_tokens, (context + kChunkSize - 1) / kChunkSize * kChunkSize);
  return RunLimits{.max_tokens = slice + config.max_seqs,
                   .max_seqs = config.max_seqs,
                   .max_logit_rows = config.max_seqs,
                   .num_slots = config.max_seqs + config.num_snapshots + 1,
                   .num_blocks = BlocksFor(kv_tokens) + 1,
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
      slots_(limits.max_seqs + 1),
      blocks_(limits.num_blocks),
      cache_(blocks_, static_cast<int32_t>(limits.max_seqs) + 1, config.num_snapshots),
      step_(limits) {
  running_.reserve(static_cast<size_t>(limits.max_seqs));
}

Status Engine::Validate(const Request& request) const {
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
  if (request.min_new_tokens < 0) {
    return InvalidArgument(StrCat("min_new_tokens is ", request.min_new_tokens, ", want it >= 0"));
  }
  if (request.num_top_logits < 0 || request.num_top_logits > kMaxTopLogits) {
    return InvalidArgument(
        StrCat("number of top logits is ", request.num_top_logits, ", want 0 to ", kMaxTopLogits));
  }
  return ValidateSamplingParams(request.sampling, model_->config().vocab_size);
}

Result<RequestId> Engine::Submit(Request request) {
  GDN_RETURN_IF_ERROR(Validate(request));
  const auto num_prompt = static_cast<int64_t>(request.prompt.size());
  const int64_t room = limits_.max_positions - num_prompt;
  const int64_t max_tokens = num_prompt + std::min(request.max_new_tokens, room);
  auto sequence = std::make_unique<Sequence>(Sequence{
      .id = next_id_++,
      .tokens = std::move(request.prompt),
      .num_prompt_tokens = num_prompt,
      .max_tokens = max_tokens,
      .priority = request.priority,
      .stop_token_ids = std::move(request.stop_token_ids),
      .sampling = std::move(request.sampling),
      .min_new_tokens = request.min_new_tokens,
      .top_logits = std::vector<TokenLogit>(static_cast<size_t>(request.num_top_logits)),
      .log_probs = request.log_probs,
  });
  sequence->tokens.reserve(static_cast<size_t>(max_tokens));
  const RequestId id = sequence->id;
  Enqueue(std::move(sequence));
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
    if (waiting != waiting_.end()) {
      swapped_bytes_ -= (*waiting)->saved.size();
      waiting_.erase(waiting);
    }
    if (running != running_.end()) {
      Release(**running);
      running_.erase(running);
    }
  }
  cancelled_.clear();
}

void Engine::Accept(Sequence& sequence, std::span<const float> logits, int32_t largest,
                    FunctionRef<void(const TokenEvent&)> sink) {
  const Result<int32_t> sampled =
      logits.empty() ? sequence.sampler->TakeLargest(largest) : sequence.sampler->Sample(logits);
  if (!sampled.ok()) {
    Release(sequence);
    sink({.request = sequence.id, .finish = FinishReason::kError, .error = sampled.status()});
    return;
  }
  const int32_t token = *sampled;
  sequence.tokens.push_back(token);
  if (!sequence.top_logits.empty()) FindTopLogits(logits, sequence.top_logits);
  TokenEvent event{.request = sequence.id,
                   .token = token,
                   .top_logits = sequence.top_logits,
                   .num_cached_tokens = sequence.num_cached_tokens};
  if (sequence.log_probs) {
    event.logit = logits[static_cast<size_t>(token)];
    event.log_sum_exp = LogSumExp(logits);
  }
  if (std::ranges::find(sequence.stop_token_ids, token) != sequence.stop_token_ids.end()) {
    event.finish = FinishReason::kStop;
  } else if (sequence.num_tokens() >= sequence.max_tokens) {
    event.finish = FinishReason::kLength;
  }
  if (event.finish != FinishReason::kNone) Release(sequence);
  sink(event);
}

Status Engine::Step(FunctionRef<void(const TokenEvent&)> sink, FunctionRef<void()> on_scheduled) {
  DropCancelled(sink);
  Admit();
  Schedule();
  on_scheduled();
  if (step_.empty()) return OkStatus();
  GDN_ASSIGN_OR_RETURN(const ConstTensor logits, model_->Forward(step_.batch()));
  const std::span<const int32_t> largest = model_->largest();
  const auto vocab = static_cast<size_t>(model_->config().vocab_size);
  for (size_t n = 0; n < step_.sequences().size(); ++n) {
    Sequence& sequence = *step_.sequences()[n];
    const bool prefill = sequence.InPrefill();
    sequence.num_computed_tokens += sequence.num_scheduled_tokens;
    if (prefill || config_.reuse_decoded) Remember(sequence);
    const int64_t row = step_.logit_index()[n];
    if (row < 0) continue;
    if (!largest.empty() && sequence.WantsLargest()) {
      Accept(sequence, {}, largest[static_cast<size_t>(row)], sink);
    } else {
      Accept(sequence, {logits.Row<float>(row), vocab}, -1, sink);
    }
  }
  std::erase_if(running_, [](const auto& sequence) { return sequence->state_slot == 0; });
  return OkStatus();
}

}  // namespace gdn
