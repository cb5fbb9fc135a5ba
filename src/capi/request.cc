// SPDX-License-Identifier: Apache-2.0
// Requests of the C interface.
#include <span>

#include "capi/boundary.h"
#include "capi/handles.h"
#include "session/chat_request_json.h"

namespace gdn::capi {

template <>
struct FirstVersion<gdn_request> {
  static constexpr size_t kBytes = offsetof(gdn_request, log_probs) + sizeof(int32_t);
};

// Padding at the end would hide the next version's field from the size.
static_assert(FirstVersion<gdn_request>::kBytes == sizeof(gdn_request));

namespace {

gdn_request DefaultRequest(const Session& session) {
  const GenerationParams params;
  const SamplingParams sampling = session.sampling_defaults().Params();
  return {.struct_size = sizeof(gdn_request),
          .text_bytes = GDN_NUL_TERMINATED,
          .max_new_tokens = params.max_new_tokens,
          .min_new_tokens = params.min_new_tokens,
          .num_completions = static_cast<int32_t>(params.num_completions),
          .priority = params.priority,
          .temperature = sampling.temperature,
          .top_k = sampling.top_k,
          .top_p = sampling.top_p,
          .min_p = sampling.min_p,
          .repetition_penalty = sampling.repetition_penalty,
          .frequency_penalty = sampling.frequency_penalty,
          .presence_penalty = sampling.presence_penalty,
          .ignore_eos = params.stop_at_eos ? 0 : 1,
          .seed = sampling.seed,
          .num_top_logits = static_cast<int32_t>(params.num_top_logits),
          .log_probs = params.log_probs ? 1 : 0};
}

Result<GenerationParams> ParamsOf(const gdn_request& request) {
  GDN_RETURN_IF_ERROR(
      NotNull("gdn_submit", "logit_bias", request.logit_bias, request.num_logit_bias));
  GDN_RETURN_IF_ERROR(NotNull("gdn_submit", "stop", request.stop, request.num_stop));
  GenerationParams out{.max_new_tokens = request.max_new_tokens,
                       .sampling = {.temperature = request.temperature,
                                    .top_k = request.top_k,
                                    .top_p = request.top_p,
                                    .min_p = request.min_p,
                                    .seed = request.seed,
                                    .repetition_penalty = request.repetition_penalty,
                                    .frequency_penalty = request.frequency_penalty,
                                    .presence_penalty = request.presence_penalty},
                       .stop_at_eos = request.ignore_eos == 0,
                       .num_top_logits = request.num_top_logits,
                       .log_probs = request.log_probs != 0,
                       .min_new_tokens = request.min_new_tokens,
                       .num_completions = request.num_completions,
                       .priority = request.priority};
  for (const gdn_logit_bias& bias : std::span(request.logit_bias, request.num_logit_bias)) {
    out.sampling.logit_bias.push_back({.token = bias.token, .bias = bias.bias});
  }
  for (size_t i = 0; i < request.num_stop; ++i) {
    if (request.stop[i] == nullptr) {
      return InvalidArgument(StrCat("gdn_submit: stop[", i, "] is NULL"));
    }
    out.stop.emplace_back(request.stop[i]);
  }
  return out;
}

Result<std::unique_ptr<Stream>> SubmitPrompt(Session& session, const gdn_request& request,
                                             const GenerationParams& params) {
  if (request.chat != nullptr) {
    GDN_ASSIGN_OR_RETURN(const ChatRequest chat, ParseChatRequest(request.chat, "chat"));
    return session.SubmitChat(chat, params);
  }
  if (request.text != nullptr) {
    return session.Submit(TextOf(request.text, request.text_bytes), params);
  }
  return session.SubmitTokens({request.tokens, request.tokens + request.num_tokens}, params);
}

Status Submit(gdn_session* session, const gdn_request* given, gdn_stream** out) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_submit", "out", out));
  *out = nullptr;
  GDN_RETURN_IF_ERROR(NotNull("gdn_submit", "session", session));
  GDN_RETURN_IF_ERROR(NotNull("gdn_submit", "request", given));
  GDN_RETURN_IF_ERROR(CheckStructSize<gdn_request>("gdn_submit", given->struct_size));
  gdn_request request = DefaultRequest(*session->session);
  ReadStruct(*given, request);
  const int num_prompts = static_cast<int>(request.text != nullptr) +
                          static_cast<int>(request.tokens != nullptr) +
                          static_cast<int>(request.chat != nullptr);
  if (num_prompts != 1) {
    return InvalidArgument(
        StrCat("gdn_submit: ", num_prompts, " of text, tokens and chat are there, want one"));
  }
  GDN_ASSIGN_OR_RETURN(const GenerationParams params, ParamsOf(request));
  auto handle = std::make_unique<gdn_stream>();
  GDN_ASSIGN_OR_RETURN(handle->stream, SubmitPrompt(*session->session, request, params));
  *out = handle.release();
  return OkStatus();
}

Status InitRequest(const gdn_session* session, gdn_request* request, size_t struct_size) {
  GDN_RETURN_IF_ERROR(NotNull("gdn_request_init", "session", session));
  GDN_RETURN_IF_ERROR(NotNull("gdn_request_init", "request", request));
  GDN_RETURN_IF_ERROR(CheckStructSize<gdn_request>("gdn_request_init", struct_size));
  WriteStruct(DefaultRequest(*session->session), struct_size, request);
  return OkStatus();
}

}  // namespace
}  // namespace gdn::capi

gdn_status gdn_request_init(const gdn_session* session, gdn_request* request, size_t struct_size) {
  return gdn::capi::Guard([&] { return gdn::capi::InitRequest(session, request, struct_size); });
}

gdn_status gdn_submit(gdn_session* session, const gdn_request* request, gdn_stream** out) {
  return gdn::capi::Guard([&] { return gdn::capi::Submit(session, request, out); });
}
