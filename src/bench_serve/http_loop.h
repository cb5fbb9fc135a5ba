// SPDX-License-Identifier: Apache-2.0
// An HTTP/1.1 client of one thread: any number of requests at once, their answers read as they
// come.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace gdn {

struct HttpUrl {
  std::string host;
  std::string port;
  std::string path;  // before the target of a request: "" or "/v2"

  std::string Authority() const;  // "[::1]:8000"
  std::string Text() const;       // "http://[::1]:8000/v2"
};

// "http://host:port/path", of which port (80) and path may be left out. Errors: kInvalidArgument.
Result<HttpUrl> ParseHttpUrl(std::string_view text);

struct HttpCall {
  std::string target;  // "/v1/models"
  std::string body;    // "": GET, else POST of JSON
};

// One answer. OnEnd comes once, last; before it, where the server answered, OnHead and then OnBody.
class HttpReader {
 public:
  virtual ~HttpReader() = default;
  virtual void OnHead(int status) = 0;
  virtual void OnBody(std::string_view bytes) = 0;
  // OK: the answer is complete. Else kUnavailable: no server, a time limit, an answer cut short.
  virtual void OnEnd(const Status& status) = 0;
};

class HttpLoop {
 public:
  // api_key may be "". timeout: how long an answer may go on without a byte.
  HttpLoop(HttpUrl url, std::string api_key, std::chrono::seconds timeout);
  ~HttpLoop();
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  // Looks the host up; before the first Send. Errors: kUnavailable.
  Status Resolve();
  // Each call has a connection of its own. The reader outlives it.
  void Send(HttpCall call, HttpReader& reader);
  void After(std::chrono::nanoseconds delay, std::function<void()> then);
  // Returns when nothing is left to do, or after Stop(). Calls come from this thread alone.
  void Run();
  // Readers whose answers are not complete hear nothing more.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdn
