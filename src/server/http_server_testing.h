// SPDX-License-Identifier: Apache-2.0
// A server for tests of HTTP, with a handler that says what it saw.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "server/http_client_testing.h"
#include "server/http_server.h"

namespace gdn {

// Refuses /no; /stream answers in pieces, /flood in large ones without an end; /hang stays without
// an answer, /drop gives it up.
class Echo final : public HttpHandler {
 public:
  std::optional<HttpResponse> Refuse(const HttpRequest& head) override {
    if (head.path() != "/no") return std::nullopt;
    return HttpResponse{.status = 404, .body = "{}"};
  }
  void Handle(HttpRequest request, std::shared_ptr<Responder> responder) override {
    if (request.path() == "/drop") return;
    if (request.path() == "/hang") {
      responder->OnClosed([this] { ++num_closed; });
      hanging.push_back(std::move(responder));
      return;
    }
    if (request.path() == "/flood") {
      responder->OnClosed([this] { ++num_closed; });
      responder->Begin({.content_type = "text/plain"});
      for (int i = 0; i < 32; ++i) responder->Write(std::string(size_t{1} << 20, 'a'));
      hanging.push_back(std::move(responder));
      return;
    }
    if (request.path() == "/stream") {
      responder->Begin({.content_type = "text/plain"});
      for (const char* piece : {"one ", "", "two"}) responder->Write(piece);
      return responder->End();
    }
    responder->Send({.content_type = "text/plain",
                     .body = StrCat(request.method, " ", request.target, " ", request.body)});
  }

  std::vector<std::shared_ptr<Responder>> hanging;
  std::atomic<int> num_closed{0};
};

class HttpServerTest : public testing::Test {
 protected:
  void Start(HttpOptions options = {}) {
    options.port = 0;
    options.num_handler_threads = 1;
    Result<std::unique_ptr<HttpServer>> server = HttpServer::Start(options, handler_);
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = std::move(*server);
  }
  void TearDown() override {
    if (server_ == nullptr) return;
    server_->Stop();
    handler_.hanging.clear();
  }
  int port() const { return server_->port(); }

  Echo handler_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace gdn
