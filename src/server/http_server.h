// SPDX-License-Identifier: Apache-2.0
// Listens, reads requests, writes answers. A few threads hold any number of connections; requests
// with a body are handled on threads of their own, so that a long one holds up nobody's stream.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "server/http_types.h"

namespace gdn {

struct HttpOptions {
  std::string host = "127.0.0.1";  // an address, or "localhost"
  int port = 8000;                 // 0: any free one
  int num_threads = 2;
  int num_handler_threads = 2;  // and as many for large bodies
  int64_t max_connections = 4096;
  size_t max_body_bytes = size_t{8} << 20;
  size_t max_header_bytes = size_t{16} << 10;
  // Bodies of requests that have not been answered, of all connections together; those of up to
  // small_body_bytes are not counted.
  size_t max_bodies_bytes = size_t{256} << 20;
  size_t small_body_bytes = size_t{64} << 10;
  // What a client has not read of a stream yet, the system's buffers aside.
  size_t max_unread_bytes = size_t{1} << 20;
  std::chrono::milliseconds request_timeout{30'000};  // from a request's first byte to its last
  std::chrono::milliseconds write_timeout{60'000};    // in which a client has to read something
  std::chrono::milliseconds idle_timeout{75'000};     // before a request's first byte
};

class HttpServer {
 public:
  // Listens from then on. handler outlives it.
  // Errors: kInvalidArgument where the address is none, or cannot be listened on.
  static Result<std::unique_ptr<HttpServer>> Start(const HttpOptions& options,
                                                   HttpHandler& handler);
  virtual ~HttpServer() = default;

  virtual int port() const = 0;
  virtual int64_t open_connections() const = 0;
  // Requests whose answer has not been written to its end.
  virtual int64_t num_unanswered() const = 0;
  // Connections end with the answers to their current requests.
  virtual void Drain() = 0;
  // Ends its threads; nothing is read or written after it. What is posted stays undone.
  virtual void Stop() = 0;
};

// Whether only this machine reaches a host of HttpOptions. Errors: kInvalidArgument for no address.
Result<bool> IsLoopback(const std::string& host);

}  // namespace gdn
