// SPDX-License-Identifier: Apache-2.0
// A request for text until the engine has it.
#include <algorithm>
#include <random>
#include <utility>

#include "base/str.h"
#include "server/generation_task.h"

namespace gdn {
namespace {

uint64_t RandomSeed() {
  std::random_device random;
  return (static_cast<uint64_t>(random()) << 32) | random();
}

std::optional<ApiError> CheckContext(const Prompt& prompt, const GenerationRequest& request,
                                     int64_t context) {
  const auto prompt_tokens = static_cast<int64_t>(prompt.tokens.size());
  const int64_t wanted =
      request.max_tokens.value_or(std::max<int64_t>(1, request.params.min_new_tokens));
  if (prompt_tokens + wanted <= context) return std::nullopt;
  return ApiError{.message = StrCat("the context of this model is ", context,
                                    " tokens, but the prompt has ", prompt_tokens, " and ", wanted,
                                    " are to be generated: want less of either"),
                  .param = request.max_tokens.has_value() ? "max_tokens" : "prompt",
                  .code = "context_length_exceeded"};
}

int64_t NumCompletions(const GenerationRequest& request) {
  const size_t prompts = request.is_chat ? 1 : request.prompts.size();
  return static_cast<int64_t>(prompts) * request.params.num_completions;
}

// The streams of all prompts, or the error of the first that is refused, without any.
Result<std::vector<std::unique_ptr<Stream>>> SubmitAll(Session& session,
                                                       std::vector<Prompt> prompts,
                                                       const GenerationRequest& request) {
  std::vector<std::unique_ptr<Stream>> streams;
  GenerationParams params = request.params;
  params.sampling.seed = request.seed.has_value() ? *request.seed : RandomSeed();
  for (Prompt& prompt : prompts) {
    const auto prompt_tokens = static_cast<int64_t>(prompt.tokens.size());
    params.max_new_tokens =
        request.max_tokens.value_or(session.limits().max_positions - prompt_tokens);
    GDN_ASSIGN_OR_RETURN(streams.emplace_back(), session.SubmitPrompt(std::move(prompt), params));
  }
  return streams;
}

}  // namespace

std::optional<Reservation> Reservation::Make(std::atomic<int64_t>& num_unfinished,
                                             int64_t completions, int64_t max_unfinished) {
  int64_t unfinished = num_unfinished;
  do {
    if (unfinished > 0 && unfinished + completions > max_unfinished) return std::nullopt;
  } while (!num_unfinished.compare_exchange_weak(unfinished, unfinished + completions));
  return Reservation(num_unfinished, completions);
}

Result<std::vector<Prompt>> EncodePrompts(const Session& session,
                                          const GenerationRequest& request) {
  std::vector<Prompt> prompts;
  if (request.is_chat) {
    GDN_ASSIGN_OR_RETURN(prompts.emplace_back(), session.EncodeChat(request.chat));
  }
  for (const PromptInput& input : request.prompts) {
    Prompt& prompt = prompts.emplace_back();
    if (const auto* tokens = std::get_if<std::vector<int32_t>>(&input)) {
      prompt.tokens = *tokens;
      continue;
    }
    GDN_ASSIGN_OR_RETURN(prompt.tokens,
                         session.tokenizer().Encode(std::get<std::string>(input),
                                                    {.surround = request.add_special_tokens}));
  }
  return prompts;
}

void Generate(const GenerationContext& context, const GenerationRequest& request,
              std::shared_ptr<Responder> responder) {
  const auto refuse = [&](const ApiError& error) {
    responder->Send(ErrorResponse(error, context.headers));
  };
  // Before the work on the prompt: those who ask again and again would have it done for nothing.
  auto reservation =
      Reservation::Make(context.num_unfinished, NumCompletions(request), context.max_unfinished);
  if (!reservation.has_value()) {
    return refuse({.status = 429,
                   .message = "too many requests wait already: try again",
                   .code = "rate_limit_exceeded"});
  }
  Result<std::vector<Prompt>> prompts = EncodePrompts(context.session, request);
  if (!prompts.ok()) return refuse(ApiErrorOf(prompts.status()));
  for (const Prompt& prompt : *prompts) {
    const auto error = CheckContext(prompt, request, context.session.limits().max_positions);
    if (error.has_value()) return refuse(*error);
  }
  auto streams = SubmitAll(context.session, std::move(*prompts), request);
  if (!streams.ok()) return refuse(ApiErrorOf(streams.status()));
  std::make_shared<GenerationTask>(context, request, std::move(*reservation), std::move(*streams),
                                   std::move(responder))
      ->Start();
}

}  // namespace gdn
