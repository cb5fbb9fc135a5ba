// SPDX-License-Identifier: Apache-2.0
// One connection of a client: requests in, one after the other, and their answers out. Includes
// Boost's headers, which are long: for http_server.cc alone.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "server/http_server.h"
#include "server/http_types.h"

namespace gdn {

// What the connections of a server share.
struct HttpShared {
  const HttpOptions options;
  HttpHandler& handler;
  boost::asio::thread_pool* workers = nullptr;        // of handlers
  boost::asio::thread_pool* large_workers = nullptr;  // of those of large bodies
  std::atomic<int64_t> open_connections{0};
  std::atomic<int64_t> num_unanswered{0};
  std::atomic<size_t> bodies_bytes{0};
  std::atomic<bool> is_draining{false};
};

// Everything but the constructor, Post and Work runs on the socket's strand.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;

  // The executor of socket is a strand.
  HttpConnection(Socket socket, HttpShared& shared);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Reads requests until the connection ends.
  void Start();
  // Answers 503 to whatever comes: there are too many.
  void Refuse();

  // Of the answer to request number exchange; ignored once that has ended.
  void Send(uint64_t exchange, const HttpResponse& response);
  void Begin(uint64_t exchange, const HttpResponse& head);
  void Write(uint64_t exchange, const std::string& piece);
  void End(uint64_t exchange);
  void Cut(uint64_t exchange);
  void OnClosed(uint64_t exchange, std::function<void()> closed);
  void Post(std::function<void()> work);
  void Work(std::function<void()> work);

 private:
  using ErrorCode = boost::system::error_code;
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class State : uint8_t {
    kIdle,      // no byte of the next request has come
    kReading,   // a part of it has
    kHandling,  // its answer has not ended; a read is pending to see the client go
    kLeaving,   // the last answer is out; waits for the client to see it
    kClosed,
  };

  // Input.
  void ReadSome();
  void OnRead(ErrorCode error, size_t count);
  void OnInputEnd();
  void Process();
  void SkipEmptyLines();
  void Parse();
  ErrorCode CheckUnread() const;
  bool CheckHead();
  bool ReserveBody();
  void ReleaseBody();
  void OnParseError(ErrorCode error);
  void Dispatch();
  void SetReadTimer(std::chrono::milliseconds timeout);
  void OnReadTimeout();

  // Output.
  bool IsCurrent(uint64_t exchange) const;
  void Append(std::string_view bytes);
  void WriteSome();
  void OnWritten(ErrorCode error, size_t count);
  void RefuseRequest(int status, const std::string& message);
  void Answer(const HttpResponse& response);
  void FinishAnswer();
  void BeginExchange();
  void EndExchange();
  void Leave();
  void Close();

  Socket socket_;
  HttpShared& shared_;
  State state_ = State::kIdle;
  boost::asio::steady_timer read_timer_;
  boost::asio::steady_timer write_timer_;
  // What a read writes to: one is pending while a request is parsed out of input_, whose bytes then
  // move.
  std::array<char, size_t{16} << 10> arriving_;
  boost::beast::flat_buffer input_;
  std::optional<Parser> parser_;
  bool is_reading_ = false;
  bool is_head_checked_ = false;
  bool has_ended_input_ = false;
  size_t head_bytes_ = 0;      // of the request, parsed
  size_t reserved_bytes_ = 0;  // of shared_.bodies_bytes

  HttpRequest request_;
  uint64_t exchange_ = 0;  // number of the current request
  std::function<void()> on_closed_;
  bool is_http_1_1_ = true;
  bool is_head_request_ = false;
  bool is_streaming_ = false;
  BodyFraming framing_ = BodyFraming::kLength;
  bool keeps_alive_ = false;
  bool is_answer_complete_ = false;
  std::string output_;   // not given to the system yet
  std::string writing_;  // being given
  size_t written_ = 0;   // of it
  bool is_writing_ = false;
};

}  // namespace gdn
