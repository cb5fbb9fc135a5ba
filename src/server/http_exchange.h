// SPDX-License-Identifier: Apache-2.0
// The answer to one request of a connection, from any thread: brings calls to the connection's
// strand, and holds the connection until then.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/http_connection.h"
#include "server/http_types.h"

namespace gdn {

class HttpExchange final : public Responder {
 public:
  HttpExchange(std::shared_ptr<HttpConnection> connection, uint64_t number)
      : connection_(std::move(connection)), number_(number) {}
  ~HttpExchange() override {
    Run([](HttpConnection& connection, uint64_t number) { connection.Cut(number); });
  }
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  void Send(HttpResponse response) override {
    Run([response = std::move(response)](HttpConnection& connection, uint64_t number) {
      connection.Send(number, response);
    });
  }
  void Begin(HttpResponse head) override {
    Run([head = std::move(head)](HttpConnection& connection, uint64_t number) {
      connection.Begin(number, head);
    });
  }
  void Write(std::string piece) override {
    Run([piece = std::move(piece)](HttpConnection& connection, uint64_t number) {
      connection.Write(number, piece);
    });
  }
  void End() override {
    Run([](HttpConnection& connection, uint64_t number) { connection.End(number); });
  }
  void Post(std::function<void()> work) override { connection_->Post(std::move(work)); }
  void Work(std::function<void()> work) override { connection_->Work(std::move(work)); }
  void OnClosed(std::function<void()> closed) override {
    Run([closed = std::move(closed)](HttpConnection& connection, uint64_t number) {
      connection.OnClosed(number, closed);
    });
  }

 private:
  template <class Call>
  void Run(Call call) {
    connection_->Post([connection = connection_, number = number_, call = std::move(call)] {
      call(*connection, number);
    });
  }

  std::shared_ptr<HttpConnection> connection_;
  uint64_t number_;
};

}  // namespace gdn
