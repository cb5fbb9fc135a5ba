// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "backend/devices.h"
#include "base/str.h"
#include "engine/memory_plan.h"
#include "session/inbox.h"
#include "session/stop_matcher.h"
#include "session/stream_state.h"

namespace gdn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxStopTokens = 128;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Status ValidateStopTokens(const std::vector<int32_t>& ids, int64_t vocab_size) {
  if (ids.size() > kMaxStopTokens) {
    return InvalidArgument(
        StrCat("stop_token_ids has ", ids.size(), " ids, want at most ", kMaxStopTokens));
  }
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocab_size) {
      return InvalidArgument(
          StrCat("stop_token_ids holds ", id, ", want ids from 0 to ", vocab_size - 1));
    }
  }
  return OkStatus();
}

// A model that does not fit is refused before it drives the machine into swapping or worse.
Result<MemoryPlan> Plan(const SessionOptions& options, const ModelConfig& config) {
  const size_t available = AvailableMemoryBytes(options.model.device);
  size_t limit = available == 0 ? std::numeric_limits<size_t>::max() : available;
  if (!options.memory.empty()) {
    GDN_ASSIGN_OR_RETURN(limit, ParseMemoryLimit(options.memory, available));
    // More than there is cannot be had.
    if (available != 0) limit = std::min(limit, available);
  }
  return PlanMemory(options.model_dir, config, options.engine, limit, [&](const RunLimits& limits) {
    return EstimateNeeds(options.model_dir, config, limits, options.model.device,
                         options.num_threads);
  });
}

}  // namespace

Session::Session(std::unique_ptr<ThreadPool> pool, Tokenizer tokenizer, ChatFormat chat_format,
                 const SamplingDefaults& sampling_defaults)
    : pool_(std::move(pool)),
      tokenizer_(std::move(tokenizer)),
      chat_format_(std::move(chat_format)),
      sampling_defaults_(sampling_defaults) {}

Result<std::unique_ptr<Session>> Session::Load(const SessionOptions& options,
                                               LoadProgress progress) {
  const Clock::time_point start = Clock::now();
  GDN_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(options.model_dir));
  GDN_ASSIGN_OR_RETURN(const MemoryPlan plan, Plan(options, config));
  GDN_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(options.model_dir));
  GDN_ASSIGN_OR_RETURN(ChatFormat chat_format, ChatFormat::Load(options.model_dir));
  GDN_ASSIGN_OR_RETURN(const SamplingDefaults sampling, LoadSamplingDefaults(options.model_dir));
  std::unique_ptr<Session> session(new Session(std::make_unique<ThreadPool>(options.num_threads),
                                               std::move(tokenizer), std::move(chat_format),
                                               sampling));
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<Model> model,
                       LoadModel(options.model_dir, options.model, *session->pool_, progress));
  session->model_ = model.get();
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                       Engine::Create(std::move(model), plan.config));
  session->limits_ = engine->limits();
  session->stop_token_ids_ = config.eos_token_ids;
  const std::optional<int32_t> eos =
      session->tokenizer_.TokenToId(session->chat_format_.eos_token());
  if (eos.has_value() &&
      std::ranges::find(session->stop_token_ids_, *eos) == session->stop_token_ids_.end()) {
    session->stop_token_ids_.push_back(*eos);
  }
  GDN_ASSIGN_OR_RETURN(session->loop_, EngineLoop::Start(std::move(engine), session->tokenizer_));
  session->load_ms_ = MillisecondsSince(start);
  return session;
}

Result<std::unique_ptr<Stream>> Session::Submit(std::string_view prompt,
                                                const GenerationParams& params) {
  GDN_ASSIGN_OR_RETURN(std::vector<int32_t> tokens, tokenizer_.Encode(prompt));
  return SubmitPrompt({.tokens = std::move(tokens)}, params);
}

Result<std::unique_ptr<Stream>> Session::SubmitTokens(std::vector<int32_t> prompt,
                                                      const GenerationParams& params) {
  return SubmitPrompt({.tokens = std::move(prompt)}, params);
}

Result<std::unique_ptr<Stream>> Session::SubmitChat(const ChatRequest& request,
                                                    const GenerationParams& params) {
  GDN_ASSIGN_OR_RETURN(Prompt prompt, EncodeChat(request));
  return SubmitPrompt(std::move(prompt), params);
}

Result<Prompt> Session::EncodeChat(const ChatRequest& request) const {
  GDN_ASSIGN_OR_RETURN(const ChatPrompt prompt, chat_format_.BuildPrompt(request));
  GDN_ASSIGN_OR_RETURN(std::vector<int32_t> tokens,
                       tokenizer_.Encode(prompt.text, {.surround = false}));
  return Prompt{.tokens = std::move(tokens), .reasoning = prompt.reasoning};
}

Result<std::unique_ptr<Stream>> Session::SubmitPrompt(Prompt prompt,
                                                      const GenerationParams& params) {
  GDN_RETURN_IF_ERROR(ValidateStopStrings(params.stop));
  if (params.num_completions < 1 || params.num_completions > kMaxCompletions) {
    return InvalidArgument(StrCat("number of completions is ", params.num_completions,
                                  ", want 1 to ", kMaxCompletions));
  }
  GDN_RETURN_IF_ERROR(ValidateStopTokens(params.stop_token_ids, model_->config().vocab_size));
  Request request{.prompt = std::move(prompt.tokens),
                  .max_new_tokens = params.max_new_tokens,
                  .stop_token_ids = params.stop_token_ids,
                  .sampling = params.sampling,
                  .num_top_logits = params.num_top_logits,
                  .log_probs = params.log_probs,
                  .min_new_tokens = params.min_new_tokens,
                  .priority = params.priority};
  if (params.stop_at_eos) {
    request.stop_token_ids.insert(request.stop_token_ids.end(), stop_token_ids_.begin(),
                                  stop_token_ids_.end());
  }
  GDN_RETURN_IF_ERROR(loop_->Validate(request));
  auto state = std::make_shared<StreamState>();
  state->inbox = loop_->inbox();
  state->prompt_tokens = request.prompt;
  state->submitted = Clock::now();
  state->num_unended = params.num_completions;
  state->ended.assign(static_cast<size_t>(params.num_completions), 0);
  Job job{.stop = params.stop, .reasoning = prompt.reasoning, .stream = state};
  for (int64_t i = 0; i < params.num_completions; ++i) {
    job.requests.push_back(request);
    job.requests.back().sampling.seed += static_cast<uint64_t>(i);
  }
  loop_->Submit(std::move(job));
  return std::make_unique<Stream>(std::move(state));
}

}  // namespace gdn
