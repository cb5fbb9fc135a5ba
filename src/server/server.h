// SPDX-License-Identifier: Apache-2.0
// An OpenAI-compatible server over a session: gdn serve without its options.
#pragma once

#include <memory>
#include <string>

#include "server/http_server.h"
#include "server/service.h"
#include "session/session.h"

namespace gdn {

struct ServerOptions {
  HttpOptions http;
  ServiceOptions service;
};

class Server {
 public:
  // Listens, and answers 503 where a model is needed. Errors: those of HttpServer::Start.
  static Result<std::unique_ptr<Server>> Start(const ServerOptions& options);
  // Cuts what still runs.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void SetLoaded(double share) { service_.SetLoaded(share); }
  void SetSession(std::unique_ptr<Session> session);

  int port() const { return http_->port(); }
  int64_t open_connections() const { return http_->open_connections(); }
  EngineStats stats() const { return service_.stats(); }

  // Requests for text are refused from then on, those that run go on.
  void Drain();
  // Every answer has been written.
  bool IsIdle() const;

 private:
  explicit Server(const ServiceOptions& options) : service_(options) {}

  Service service_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<HttpServer> http_;
};

// Runs a few tokens through the model, so that the first request finds shaders compiled and pages
// read, and Model::kernels() says what runs. The session is as new after it.
Status WarmUp(Session& session);

// "12.3 tokens/s prompt, ...": what happened between two moments that are seconds apart.
std::string ActivityLine(const EngineStats& before, const EngineStats& now, double seconds,
                         const RunLimits& limits);

}  // namespace gdn
