// SPDX-License-Identifier: Apache-2.0
// The endpoints of the server, over a session; knows nothing of sockets.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "server/access.h"
#include "server/generation_request.h"
#include "server/http_server.h"
#include "server/http_types.h"
#include "server/metrics.h"
#include "session/session.h"

namespace gdn {

// While a model is loaded, or the last requests end.

struct ServiceOptions {
  std::string model_name;
  AccessRules access;
  int64_t max_waiting = 256;     // completions beyond those that run at once
  int64_t max_completions = 16;  // of one request: prompts times n
  size_t max_body_bytes = size_t{8} << 20;
};

class Service final : public HttpHandler {
 public:
  explicit Service(const ServiceOptions& options);

  // From then on there is a model; session outlives the last request. Its counters start here.
  void SetSession(Session& session);
  void SetLoaded(double share) { loaded_ = share; }  // 0 to 1, for /health
  // New requests for text are refused.
  void Drain() { is_draining_ = true; }
  // For the number of connections in /metrics.
  void SetHttpServer(const HttpServer& server) { http_server_ = &server; }

  // Since SetSession.
  EngineStats stats() const;
  int64_t num_unfinished() const { return num_unfinished_; }

  std::optional<HttpResponse> Refuse(const HttpRequest& head) override;
  void Handle(HttpRequest request, std::shared_ptr<Responder> responder) override;

 private:
  std::optional<ApiError> CheckReady(Endpoint endpoint) const;
  std::optional<ApiError> CheckModel(const std::string& model) const;
  RequestRules Rules() const;

  void Answer(Endpoint endpoint, const HttpRequest& request, std::shared_ptr<Responder> responder);
  void AnswerGeneration(Endpoint endpoint, const HttpRequest& request,
                        std::shared_ptr<Responder> responder);
  // The JSON of an answer, or the error instead.
  using Reply = std::variant<ApiError, HttpResponse>;
  Reply Get(Endpoint endpoint, const HttpRequest& request);
  Reply GetModel(const HttpRequest& request) const;
  Reply Health() const;
  Reply Tokenize(const HttpRequest& request) const;
  Reply Detokenize(const HttpRequest& request) const;

  const ServiceOptions options_;
  const int64_t created_;  // seconds since 1970
  Metrics metrics_;
  EngineStats before_;  // what the session had counted at SetSession; set before session_
  std::atomic<Session*> session_{nullptr};
  std::atomic<const HttpServer*> http_server_{nullptr};
  std::atomic<double> loaded_{0};
  std::atomic<bool> is_draining_{false};
  std::atomic<int64_t> num_unfinished_{0};
};

}  // namespace gdn
