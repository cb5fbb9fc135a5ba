// SPDX-License-Identifier: Apache-2.0
#include "server/service.h"

#include <ctime>
#include <exception>
#include <utility>

#include "base/log.h"
#include "base/str.h"
#include "server/embedded.h"
#include "server/generation_task.h"

namespace gdn {
namespace {

bool NeedsModel(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kChatCompletions:
    case Endpoint::kCompletions:
    case Endpoint::kModels:
    case Endpoint::kModel:
    case Endpoint::kTokenize:
    case Endpoint::kDetokenize:
    case Endpoint::kResetPrefixCache:
      return true;
    default:
      return false;
  }
}

bool IsGeneration(Endpoint endpoint) {
  return endpoint == Endpoint::kChatCompletions || endpoint == Endpoint::kCompletions;
}

}  // namespace

Service::Service(const ServiceOptions& options)
    : options_(options),
      created_(static_cast<int64_t>(std::time(nullptr))),
      metrics_(options.model_name) {}

void Service::SetSession(Session& session) {
  before_ = session.stats();
  session_ = &session;
}

EngineStats Service::stats() const {
  const Session* session = session_;
  if (session == nullptr) return {};
  EngineStats stats = session->stats();
  stats.num_prompt_tokens -= before_.num_prompt_tokens;
  stats.num_cached_tokens -= before_.num_cached_tokens;
  stats.num_new_tokens -= before_.num_new_tokens;
  return stats;
}

RequestRules Service::Rules() const {
  return {.sampling = session_.load()->sampling_defaults(),
          .max_completions = options_.max_completions,
          .max_bytes = options_.max_body_bytes};
}

std::optional<ApiError> Service::CheckReady(Endpoint endpoint) const {
  if (NeedsModel(endpoint) && session_ == nullptr) {
    return ApiError{.status = 503, .message = "the model is being loaded: try again"};
  }
  if (IsGeneration(endpoint) && is_draining_) {
    return ApiError{.status = 503, .message = "the server is stopping"};
  }
  return std::nullopt;
}

std::optional<ApiError> Service::CheckModel(const std::string& model) const {
  if (model.empty() || model == options_.model_name) return std::nullopt;
  return ApiError{.status = 404,
                  .message = StrCat("model is ", Quoted(model), ", want ",
                                    Quoted(options_.model_name), ", the one that runs here"),
                  .param = "model",
                  .code = "model_not_found"};
}

std::optional<HttpResponse> Service::Refuse(const HttpRequest& head) {
  auto cors = CorsHeaders(head, options_.access);
  if (head.method == "OPTIONS" && !cors.empty() && EndpointOf(head.path()).has_value()) {
    cors.emplace_back("Access-Control-Allow-Methods", "GET, HEAD, POST");
    // Whatever the client library adds: an origin that is let in may say all of it.
    const std::string_view wanted = head.Header("Access-Control-Request-Headers");
    cors.emplace_back("Access-Control-Allow-Headers",
                      wanted.empty() ? "Authorization, Content-Type" : wanted);
    cors.emplace_back("Access-Control-Max-Age", "600");
    return HttpResponse{.status = 204, .content_type = "", .headers = std::move(cors)};
  }
  std::string allow;
  auto error = CheckAccess(head, options_.access, allow);
  if (!error.has_value()) error = CheckReady(EndpointOf(head.path()).value());
  if (!error.has_value()) return std::nullopt;
  HttpResponse response = ErrorResponse(*error, CorsHeaders(head, options_.access));
  if (!allow.empty()) response.headers.emplace_back("Allow", allow);
  return response;
}

// Nothing that a handler throws may end a thread: the client gets an error, the others go on.
void Service::Handle(HttpRequest request, std::shared_ptr<Responder> responder) {
  try {
    Answer(EndpointOf(request.path()).value(), request, responder);
  } catch (const std::exception& error) {
    Log(LogLevel::kError, StrCat("server: ", Quoted(request.path()), ": ", error.what()));
    responder->Send(ErrorResponse({.status = 500, .message = "an internal error"},
                                  CorsHeaders(request, options_.access)));
  }
}

void Service::Answer(Endpoint endpoint, const HttpRequest& request,
                     std::shared_ptr<Responder> responder) {
  if (IsGeneration(endpoint)) return AnswerGeneration(endpoint, request, std::move(responder));
  Reply reply = Get(endpoint, request);
  if (const auto* error = std::get_if<ApiError>(&reply)) {
    return responder->Send(ErrorResponse(*error, CorsHeaders(request, options_.access)));
  }
  auto& response = std::get<HttpResponse>(reply);
  for (auto& header : CorsHeaders(request, options_.access)) {
    response.headers.push_back(std::move(header));
  }
  responder->Send(std::move(response));
}

void Service::AnswerGeneration(Endpoint endpoint, const HttpRequest& request,
                               std::shared_ptr<Responder> responder) {
  GenerationRequest generation;
  auto error = endpoint == Endpoint::kChatCompletions
                   ? ParseChatCompletion(request.body, Rules(), generation)
                   : ParseCompletion(request.body, Rules(), generation);
  if (!error.has_value()) error = CheckModel(generation.model);
  if (error.has_value())
    return responder->Send(ErrorResponse(*error, CorsHeaders(request, options_.access)));
  Session& session = *session_;
  Generate({.session = session,
            .metrics = metrics_,
            .model_name = options_.model_name,
            .max_unfinished = session.limits().max_seqs + options_.max_waiting,
            .num_unfinished = num_unfinished_,
            .headers = CorsHeaders(request, options_.access)},
           generation, std::move(responder));
}

}  // namespace gdn
