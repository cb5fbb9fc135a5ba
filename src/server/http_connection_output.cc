// SPDX-License-Identifier: Apache-2.0
// The writing half of a connection.
#include <boost/asio/buffer.hpp>
#include <utility>

#include "server/api_error.h"
#include "server/http_connection.h"

namespace gdn {
namespace {

namespace asio = boost::asio;

// How long a client may take to read a last answer and close.
constexpr std::chrono::seconds kLeaveTimeout(2);

}  // namespace

void HttpConnection::Refuse() {
  ErrorCode ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  RefuseRequest(503, "too many connections: try again");
}

// The connection ends with it: what of the request has not been read is not looked for.
void HttpConnection::RefuseRequest(int status, const std::string& message) {
  keeps_alive_ = false;
  BeginExchange();
  Answer(ErrorResponse({.status = status, .message = message}));
}

bool HttpConnection::IsCurrent(uint64_t exchange) const {
  return state_ == State::kHandling && exchange == exchange_ && !is_answer_complete_;
}

void HttpConnection::BeginExchange() {
  state_ = State::kHandling;
  ++exchange_;
  ++shared_.num_unanswered;
  is_streaming_ = false;
  is_answer_complete_ = false;
  read_timer_.cancel();
}

void HttpConnection::EndExchange() {
  on_closed_ = nullptr;
  ReleaseBody();
  --shared_.num_unanswered;
}

void HttpConnection::Send(uint64_t exchange, const HttpResponse& response) {
  if (IsCurrent(exchange)) Answer(response);
}

void HttpConnection::Answer(const HttpResponse& response) {
  keeps_alive_ = keeps_alive_ && !shared_.is_draining && !has_ended_input_;
  is_answer_complete_ = true;
  output_ += FormatHead(response, BodyFraming::kLength, keeps_alive_);
  Append(is_head_request_ ? std::string_view() : response.body);
}

void HttpConnection::Begin(uint64_t exchange, const HttpResponse& head) {
  if (!IsCurrent(exchange)) return;
  framing_ = is_http_1_1_ ? BodyFraming::kChunked : BodyFraming::kClose;
  keeps_alive_ = keeps_alive_ && framing_ == BodyFraming::kChunked && !shared_.is_draining;
  is_streaming_ = true;
  if (has_ended_input_) return Close();
  Append(FormatHead(head, framing_, keeps_alive_));
}

void HttpConnection::Write(uint64_t exchange, const std::string& piece) {
  if (!IsCurrent(exchange)) return;
  const size_t unread = output_.size() + writing_.size() - written_;
  if (unread > shared_.options.max_unread_bytes) return Close();
  Append(framing_ == BodyFraming::kChunked ? FormatChunk(piece) : piece);
}

void HttpConnection::End(uint64_t exchange) {
  if (!IsCurrent(exchange)) return;
  is_answer_complete_ = true;
  Append(framing_ == BodyFraming::kChunked ? kLastChunk : "");
}

void HttpConnection::Cut(uint64_t exchange) {
  if (IsCurrent(exchange)) Close();
}

void HttpConnection::OnClosed(uint64_t exchange, std::function<void()> closed) {
  const bool is_open = IsCurrent(exchange) && !has_ended_input_;
  if (is_open) {
    on_closed_ = std::move(closed);
    return;
  }
  closed();
  Cut(exchange);
}

void HttpConnection::Append(std::string_view bytes) {
  output_ += bytes;
  WriteSome();
}

void HttpConnection::WriteSome() {
  if (is_writing_ || state_ == State::kClosed) return;
  if (written_ == writing_.size()) {
    writing_.clear();
    written_ = 0;
    writing_.swap(output_);
    if (writing_.empty()) {
      write_timer_.cancel();
      if (state_ == State::kHandling && is_answer_complete_) FinishAnswer();
      return;
    }
  }
  is_writing_ = true;
  write_timer_.expires_after(shared_.options.write_timeout);
  write_timer_.async_wait([self = shared_from_this()](ErrorCode error) {
    if (error || self->write_timer_.expiry() > std::chrono::steady_clock::now()) return;
    self->Close();
  });
  socket_.async_write_some(asio::buffer(writing_.data() + written_, writing_.size() - written_),
                           [self = shared_from_this()](ErrorCode error, size_t count) {
                             self->OnWritten(error, count);
                           });
}

void HttpConnection::OnWritten(ErrorCode error, size_t count) {
  is_writing_ = false;
  if (state_ == State::kClosed) return;
  if (error) return Close();
  written_ += count;
  WriteSome();
}

void HttpConnection::FinishAnswer() {
  EndExchange();
  if (!keeps_alive_ || shared_.is_draining || has_ended_input_) return Leave();
  state_ = State::kIdle;
  SetReadTimer(shared_.options.idle_timeout);
  Process();
}

// Closing at once with input unread would make the system drop what the client has not seen yet.
void HttpConnection::Leave() {
  state_ = State::kLeaving;
  if (has_ended_input_) return Close();
  ErrorCode ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  SetReadTimer(kLeaveTimeout);
  Process();
}

void HttpConnection::Close() {
  if (state_ == State::kClosed) return;
  const bool was_handling = state_ == State::kHandling;
  state_ = State::kClosed;
  const std::function<void()> closed = std::exchange(on_closed_, nullptr);
  if (was_handling) EndExchange();
  read_timer_.cancel();
  write_timer_.cancel();
  ErrorCode ignored;
  socket_.close(ignored);
  if (closed) closed();
}

}  // namespace gdn
