// SPDX-License-Identifier: Apache-2.0
// HTTP without a library: what a handler of requests sees.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gdn {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // as it came: "/v1/models?x=1"
  HttpHeaders headers;
  std::string body;
  bool is_http_1_1 = true;
  bool has_body = false;  // says its headers

  // The value of a header whatever the case of its name; "" where it is not there.
  std::string_view Header(std::string_view name) const;
  // The connection ends with the answer: one of the headers Connection says so.
  bool WantsClose() const;
  // The client waits for leave to send the body.
  bool ExpectsContinue() const;
  // The target's path, without the query.
  std::string_view path() const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";  // "": no body
  std::string body;
  HttpHeaders headers;  // more of them
};

// Where the answer to one request goes: either Send, or Begin, any number of Write, and End. From
// any thread; calls take effect in their order. Dropped without an end, it cuts the connection.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void Send(HttpResponse response) = 0;
  // The body follows piece by piece.
  virtual void Begin(HttpResponse head) = 0;
  virtual void Write(std::string piece) = 0;
  virtual void End() = 0;
  // Runs work where OnClosed is called: one at a time, in order.
  virtual void Post(std::function<void()> work) = 0;
  // Runs work that takes a while, on a thread where it holds up no connection. What it throws goes
  // to the log.
  virtual void Work(std::function<void()> work) = 0;
  // Calls closed once if the client goes away, or reads too slowly, before the answer's end.
  virtual void OnClosed(std::function<void()> closed) = 0;
};

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Looks at a request before its body has been read, quickly; an answer refuses it.
  virtual std::optional<HttpResponse> Refuse(const HttpRequest& head) = 0;
  // Called from several threads; may take a while where the request has a body.
  virtual void Handle(HttpRequest request, std::shared_ptr<Responder> responder) = 0;
};

// What is wrong with headers that say where a request ends and whom it is for: what two readers
// could understand in two ways is refused. Status 0: nothing.
struct HeadError {
  int status = 0;
  std::string message;
};
HeadError CheckHeaders(const HttpRequest& head);

const char* ReasonPhrase(int status);

enum class BodyFraming {
  kLength,   // Content-Length, of response.body
  kChunked,  // of HTTP/1.1
  kClose,    // of HTTP/1.0: ends with the connection
};
// The status line and headers, with the empty line at their end.
std::string FormatHead(const HttpResponse& response, BodyFraming framing, bool keep_alive);
// One chunk of a chunked body; the last one is kLastChunk.
std::string FormatChunk(std::string_view piece);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// Percent-decoded; nothing where it is not well-formed.
std::optional<std::string> PercentDecoded(std::string_view text);

}  // namespace gdn
