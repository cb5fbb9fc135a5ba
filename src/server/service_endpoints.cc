// SPDX-License-Identifier: Apache-2.0
// The endpoints of a service that answer at once.
#include <nlohmann/json.hpp>
#include <utility>

#include "base/str.h"
#include "base/version.h"
#include "io/json_text.h"
#include "server/embedded.h"
#include "server/generation_task.h"
#include "server/service.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

// The page is one file that loads nothing from anywhere and talks to this server alone.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Of an answer of /tokenize, whose tree is many times its text.
constexpr size_t kMaxTokens = size_t{1} << 20;

HttpResponse Of(const Json& json, int status = 200) {
  return {.status = status, .body = DumpJson(json)};
}

Json ModelJson(const std::string& name, int64_t created, int64_t context) {
  return {{"id", name},
          {"object", "model"},
          {"created", created},
          {"owned_by", "gdn"},
          {"max_model_len", context}};
}

}  // namespace

Service::Reply Service::Health() const {
  const auto not_ready = [](const Json& json) {
    HttpResponse response = Of(json, 503);
    response.headers.emplace_back("Retry-After", kRetryAfterSeconds);
    return response;
  };
  if (is_draining_) return not_ready({{"status", "draining"}});
  if (session_ == nullptr) return not_ready({{"status", "loading"}, {"loaded", loaded_.load()}});
  if (stats().has_failed) return Of({{"status", "failed"}}, 503);
  return Of({{"status", "ok"}});
}

Service::Reply Service::GetModel(const HttpRequest& request) const {
  constexpr std::string_view kPrefix = "/v1/models/";
  const auto name = PercentDecoded(request.path().substr(kPrefix.size()));
  if (!name.has_value()) return ApiError{.status = 400, .message = "a % begins no byte"};
  if (auto error = CheckModel(*name)) return *error;
  return Of(ModelJson(options_.model_name, created_, session_.load()->limits().max_positions));
}

Service::Reply Service::Tokenize(const HttpRequest& request) const {
  TokenizeRequest parsed;
  if (auto error = ParseTokenize(request.body, Rules(), parsed)) return *error;
  if (auto error = CheckModel(parsed.input.model)) return *error;
  const Session& session = *session_;
  const Result<std::vector<Prompt>> prompts = EncodePrompts(session, parsed.input);
  if (!prompts.ok()) return ApiErrorOf(prompts.status());
  const std::vector<int32_t>& tokens = prompts->front().tokens;
  if (tokens.size() > kMaxTokens) {
    return ApiError{
        .message = StrCat("the text has ", tokens.size(), " tokens, want at most ", kMaxTokens)};
  }
  Json strings;
  if (parsed.return_token_strings) {
    strings = Json::array();
    for (const int32_t token : tokens) {
      strings.push_back(session.tokenizer().Decode({&token, 1}, /*skip_special=*/false));
    }
  }
  return Of({{"count", tokens.size()},
             {"max_model_len", session.limits().max_positions},
             {"tokens", tokens},
             {"token_strs", std::move(strings)}});
}

Service::Reply Service::Detokenize(const HttpRequest& request) const {
  DetokenizeRequest parsed;
  if (auto error = ParseDetokenize(request.body, Rules(), parsed)) return *error;
  if (auto error = CheckModel(parsed.model)) return *error;
  const Session& session = *session_;
  for (const int32_t token : parsed.tokens) {
    const int64_t vocab_size = session.model().config().vocab_size;
    if (token < vocab_size) continue;
    return ApiError{.message = StrCat("tokens holds ", token, ", want below ", vocab_size),
                    .param = "tokens"};
  }
  return Of({{"prompt", session.tokenizer().Decode(parsed.tokens, /*skip_special=*/false)}});
}

Service::Reply Service::Get(Endpoint endpoint, const HttpRequest& request) {
  switch (endpoint) {
    case Endpoint::kModels: {
      const int64_t context = session_.load()->limits().max_positions;
      return Of({{"object", "list"},
                 {"data", Json::array({ModelJson(options_.model_name, created_, context)})}});
    }
    case Endpoint::kModel:
      return GetModel(request);
    case Endpoint::kTokenize:
      return Tokenize(request);
    case Endpoint::kDetokenize:
      return Detokenize(request);
    case Endpoint::kResetPrefixCache:
      session_.load()->ClearPrefixCache();
      return Of({{"status", "ok"}});
    case Endpoint::kHealth:
      return Health();
    case Endpoint::kVersion:
      return Of({{"version", VersionString()}, {"commit", CommitHash()}});
    case Endpoint::kOpenApi:
      return HttpResponse{.body = std::string(embedded::kOpenapiJson)};
    case Endpoint::kPage:
      return HttpResponse{.content_type = "text/html; charset=utf-8",
                          .body = std::string(embedded::kIndexHtml),
                          .headers = {{"Content-Security-Policy", kPagePolicy},
                                      {"X-Content-Type-Options", "nosniff"},
                                      {"Referrer-Policy", "no-referrer"}}};
    case Endpoint::kMetrics: {
      const Session* session = session_;
      const HttpServer* server = http_server_;
      const RunLimits* limits = session == nullptr ? nullptr : &session->limits();
      return HttpResponse{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                          .body = metrics_.Text(
                              stats(), limits, server == nullptr ? 0 : server->open_connections())};
    }
    default:
      return ApiError{.status = 404, .message = "not an endpoint"};
  }
}

}  // namespace gdn
