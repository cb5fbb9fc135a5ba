// SPDX-License-Identifier: Apache-2.0
// The reading half of a connection.
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>

#include <utility>

#include "base/log.h"
#include "base/str.h"
#include "server/http_connection.h"
#include "server/http_exchange.h"

namespace gdn {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

// What a client may send ahead while its request is answered. It is read at once: else nobody would
// see the client go.
constexpr size_t kMaxAheadBytes = size_t{64} << 10;

// A body that takes a while has threads apart, so that it holds up no other.
constexpr size_t kLargeBodyBytes = size_t{256} << 10;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

HttpConnection::HttpConnection(Socket socket, HttpShared& shared)
    : socket_(std::move(socket)),
      shared_(shared),
      read_timer_(socket_.get_executor()),
      write_timer_(socket_.get_executor()) {
  ++shared_.open_connections;
}

HttpConnection::~HttpConnection() {
  ReleaseBody();
  --shared_.open_connections;
}

void HttpConnection::Post(std::function<void()> work) {
  asio::post(socket_.get_executor(), std::move(work));
}

void HttpConnection::Work(std::function<void()> work) {
  asio::post(*shared_.workers, [work = std::move(work)] {
    try {
      work();
    } catch (const std::exception& error) {
      Log(LogLevel::kError, StrCat("server: ", error.what()));
    }
  });
}

void HttpConnection::Start() {
  ErrorCode ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  SetReadTimer(shared_.options.idle_timeout);
  ReadSome();
}

void HttpConnection::ReadSome() {
  if (is_reading_ || has_ended_input_ || state_ == State::kClosed) return;
  is_reading_ = true;
  socket_.async_read_some(
      asio::buffer(arriving_),
      [self = shared_from_this()](ErrorCode error, size_t count) { self->OnRead(error, count); });
}

void HttpConnection::OnRead(ErrorCode error, size_t count) {
  is_reading_ = false;
  if (state_ == State::kClosed) return;
  if (error) return OnInputEnd();
  input_.commit(asio::buffer_copy(input_.prepare(count), asio::buffer(arriving_, count)));
  Process();
}

// A client that sends no more counts as one that has gone: an answer that goes on would be written
// for nobody. What is there already is still sent.
void HttpConnection::OnInputEnd() {
  has_ended_input_ = true;
  if (state_ != State::kHandling || on_closed_ || is_streaming_) Close();
}

void HttpConnection::Process() {
  switch (state_) {
    case State::kIdle:
      SkipEmptyLines();
      if (input_.size() == 0) return ReadSome();
      state_ = State::kReading;
      is_head_checked_ = false;
      is_head_request_ = false;
      head_bytes_ = 0;
      parser_.emplace();
      parser_->header_limit(static_cast<uint32_t>(shared_.options.max_header_bytes));
      parser_->body_limit(shared_.options.max_body_bytes);
      SetReadTimer(shared_.options.request_timeout);
      return Parse();
    case State::kReading:
      return Parse();
    case State::kHandling:
      if (input_.size() < kMaxAheadBytes) return ReadSome();
      // Behind an answer that is there it may be the body of a request that was refused.
      if (!is_answer_complete_) Close();
      return;
    case State::kLeaving:
      input_.clear();
      return ReadSome();
    case State::kClosed:
      return;
  }
}

// Some clients send one behind a body (RFC 9112, 2.2).
void HttpConnection::SkipEmptyLines() {
  const auto* bytes = static_cast<const char*>(input_.data().data());
  size_t count = 0;
  while (count < input_.size() && (bytes[count] == '\r' || bytes[count] == '\n')) ++count;
  input_.consume(count);
}

void HttpConnection::Parse() {
  while (!parser_->is_done()) {
    if (input_.size() == 0) return ReadSome();
    ErrorCode error;
    const bool is_in_head = !parser_->is_header_done();
    const size_t count = parser_->put(input_.data(), error);
    input_.consume(count);
    if (is_in_head) head_bytes_ += count;
    if (error == http::error::need_more) error = CheckUnread();
    if (error == http::error::need_more) return ReadSome();
    if (error) return OnParseError(error);
    if (parser_->is_header_done() && !is_head_checked_ && !CheckHead()) return;
    if (!ReserveBody()) return;
  }
  Dispatch();
}

// Of Boost's parser, which sees a limit only in what it has not taken yet, and none in what frames
// the chunks of a body.
HttpConnection::ErrorCode HttpConnection::CheckUnread() const {
  const size_t size = input_.size() + (parser_->is_header_done() ? 0 : head_bytes_);
  return size > shared_.options.max_header_bytes ? http::error::header_limit
                                                 : http::error::need_more;
}

// True where the rest of the request is wanted.
bool HttpConnection::CheckHead() {
  is_head_checked_ = true;
  const auto& head = parser_->get();
  request_ = {.method = std::string(View(head.method_string())),
              .target = std::string(View(head.target())),
              .is_http_1_1 = head.version() >= 11,
              .has_body = parser_->chunked() || parser_->content_length().value_or(0) > 0};
  for (const auto& field : head) {
    request_.headers.emplace_back(View(field.name_string()), View(field.value()));
  }
  is_http_1_1_ = request_.is_http_1_1;
  is_head_request_ = request_.method == "HEAD";
  keeps_alive_ = head.keep_alive() && !request_.WantsClose();
  if (const HeadError error = CheckHeaders(request_); error.status != 0) {
    RefuseRequest(error.status, error.message);
    return false;
  }
  if (const std::optional<HttpResponse> refusal = shared_.handler.Refuse(request_)) {
    if (request_.has_body) keeps_alive_ = false;  // it is not read
    BeginExchange();
    Answer(*refusal);
    return false;
  }
  if (request_.ExpectsContinue()) Append("HTTP/1.1 100 Continue\r\n\r\n");
  return true;
}

// What has come of the body counts, not what is said to come: who sends nothing takes no place of
// others. Small bodies find a place always.
bool HttpConnection::ReserveBody() {
  const HttpOptions& options = shared_.options;
  const size_t size = parser_->get().body().size();
  if (size <= options.small_body_bytes || size <= reserved_bytes_) return true;
  const size_t added = size - reserved_bytes_;
  reserved_bytes_ = size;
  if ((shared_.bodies_bytes += added) <= options.max_bodies_bytes) return true;
  ReleaseBody();  // before the client can know, and ask again
  RefuseRequest(503, "too many large requests at once: try again");
  return false;
}

void HttpConnection::ReleaseBody() {
  shared_.bodies_bytes -= reserved_bytes_;
  reserved_bytes_ = 0;
}

void HttpConnection::OnParseError(ErrorCode error) {
  const HttpOptions& options = shared_.options;
  if (error == http::error::header_limit) {
    return RefuseRequest(
        431, StrCat("the headers are over ", HumanBytes(options.max_header_bytes), ", want less"));
  }
  if (error == http::error::body_limit) {
    return RefuseRequest(
        413, StrCat("the body is over ", HumanBytes(options.max_body_bytes), ", want less"));
  }
  RefuseRequest(400, StrCat("this is not HTTP: ", error.message()));
}

void HttpConnection::Dispatch() {
  request_.body = std::move(parser_->get().body());
  parser_.reset();
  const bool has_body = request_.has_body;
  const bool is_large = request_.body.size() > kLargeBodyBytes;
  BeginExchange();
  auto exchange = std::make_shared<HttpExchange>(shared_from_this(), exchange_);
  auto work = [&handler = shared_.handler, request = std::exchange(request_, {}),
               exchange = std::move(exchange)]() mutable {
    handler.Handle(std::move(request), std::move(exchange));
  };
  // What has no body takes no time: /health answers whatever the workers have to read.
  if (has_body) {
    asio::thread_pool& workers = is_large ? *shared_.large_workers : *shared_.workers;
    asio::post(workers, std::move(work));
  } else {
    work();
  }
  Process();
}

void HttpConnection::SetReadTimer(std::chrono::milliseconds timeout) {
  read_timer_.expires_after(timeout);
  read_timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (error || self->read_timer_.expiry() > std::chrono::steady_clock::now()) return;
    self->OnReadTimeout();
  });
}

void HttpConnection::OnReadTimeout() {
  if (state_ == State::kReading) {
    return RefuseRequest(408, StrCat("the request took over ",
                                     shared_.options.request_timeout.count(), " ms to come"));
  }
  if (state_ != State::kHandling) Close();
}

}  // namespace gdn
