// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <chrono>
#include <utility>

#include "base/str.h"
#include "base/system_info.h"
#include "session/stop_matcher.h"
#include "tokenizer/utf8_assembler.h"

namespace gdn {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A model that does not fit is refused before it drives the machine into swapping or worse.
Status CheckMemory(const SessionOptions& options, const ModelConfig& config) {
  GDN_ASSIGN_OR_RETURN(const RunLimits limits, Engine::Limits(config, options.engine));
  GDN_ASSIGN_OR_RETURN(const MemoryNeeds needs,
                       EstimateNeeds(options.model_dir, config, limits, options.num_threads));
  const size_t available = AvailableMemoryBytes();
  if (available != 0 && needs.TotalBytes(limits) > available) {
    return OutOfMemory(StrCat(options.model_dir, " needs ", HumanBytes(needs.TotalBytes(limits)),
                              " of memory (weights ", HumanBytes(needs.weight_bytes),
                              ", context of ", limits.max_positions, " tokens ",
                              HumanBytes(needs.TotalBytes(limits) - needs.weight_bytes),
                              "), available are ", HumanBytes(available)));
  }
  return OkStatus();
}

}  // namespace

Session::Session(std::unique_ptr<ThreadPool> pool, Tokenizer tokenizer,
                 std::unique_ptr<Engine> engine, double load_ms)
    : pool_(std::move(pool)),
      tokenizer_(std::move(tokenizer)),
      engine_(std::move(engine)),
      load_ms_(load_ms) {}

Result<std::unique_ptr<Session>> Session::Load(const SessionOptions& options,
                                               LoadProgress progress) {
  const Clock::time_point start = Clock::now();
  GDN_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(options.model_dir));
  GDN_RETURN_IF_ERROR(CheckMemory(options, config));
  GDN_ASSIGN_OR_RETURN(Tokenizer tokenizer, Tokenizer::Load(options.model_dir));
  auto pool = std::make_unique<ThreadPool>(options.num_threads);
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<Model> model,
                       LoadModel(options.model_dir, options.model, *pool, progress));
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine,
                       Engine::Create(std::move(model), options.engine));
  return std::unique_ptr<Session>(new Session(std::move(pool), std::move(tokenizer),
                                              std::move(engine), MillisecondsSince(start)));
}

Result<Completion> Session::Complete(std::string_view prompt, const GenerationParams& params,
                                     FunctionRef<void(std::string_view piece)> on_text,
                                     FunctionRef<bool()> keep_going) {
  GDN_ASSIGN_OR_RETURN(std::vector<int32_t> tokens, tokenizer_.Encode(prompt));
  return CompleteTokens(std::move(tokens), params, on_text, keep_going);
}

Result<Completion> Session::CompleteTokens(std::vector<int32_t> prompt_tokens,
                                           const GenerationParams& params,
                                           FunctionRef<void(std::string_view piece)> on_text,
                                           FunctionRef<bool()> keep_going) {
  Completion out;
  out.prompt_tokens = std::move(prompt_tokens);
  GDN_RETURN_IF_ERROR(ValidateStopStrings(params.stop));
  Request request{.prompt = out.prompt_tokens,
                  .max_new_tokens = params.max_new_tokens,
                  .sampling = params.sampling,
                  .num_top_logits = params.num_top_logits,
                  .log_probs = params.log_probs,
                  .min_new_tokens = params.min_new_tokens};
  if (params.stop_at_eos) request.stop_token_ids = engine_->model().config().eos_token_ids;
  GDN_ASSIGN_OR_RETURN(const RequestId id, engine_->Submit(std::move(request)));
  Utf8Assembler assembler;
  StopMatcher matcher(params.stop);
  std::string bytes;
  Status error;
  const auto emit = [&](const std::string& piece) {
    if (piece.empty()) return;
    out.text += piece;
    on_text(piece);
  };
  const Clock::time_point start = Clock::now();
  const auto on_event = [&](const TokenEvent& event) {
    if (matcher.stopped()) return;  // the end of a request whose text has ended already
    out.finish = event.finish;
    if (event.finish == FinishReason::kError) error = event.error;
    if (event.token < 0) return;
    out.tokens.push_back(event.token);
    out.num_cached_tokens = event.num_cached_tokens;
    if (params.log_probs) {
      out.log_probs.push_back(static_cast<double>(event.logit) - event.log_sum_exp);
    }
    if (!event.top_logits.empty()) {
      out.top_logits.emplace_back(event.top_logits.begin(), event.top_logits.end());
    }
    (out.tokens.size() == 1 ? out.prompt_ms : out.gen_ms) = MillisecondsSince(start);
    bytes.clear();
    tokenizer_.AppendTokenBytes(event.token, /*skip_special=*/true, bytes);
    emit(matcher.Append(assembler.Append(bytes)));
    if (!matcher.stopped()) return;
    out.finish = FinishReason::kStop;
    if (event.finish == FinishReason::kNone) engine_->Cancel(id);
  };
  while (engine_->HasWork()) {
    if (!keep_going()) engine_->Cancel(id);
    GDN_RETURN_IF_ERROR(engine_->Step(on_event));
  }
  GDN_RETURN_IF_ERROR(error);
  if (!matcher.stopped()) emit(matcher.Append(assembler.Flush()));
  emit(matcher.Flush());
  out.gen_ms = out.tokens.size() > 1 ? out.gen_ms - out.prompt_ms : 0;
  return out;
}

}  // namespace gdn
