// SPDX-License-Identifier: Apache-2.0
// The one source that sees Boost's headers, which take as long to compile as all the rest.
#include "bench_serve/http_loop.h"

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "base/str.h"

namespace gdn {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Error = boost::system::error_code;

constexpr uint32_t kMaxHeadBytes = 64 << 10;
constexpr size_t kPieceBytes = size_t{16} << 10;

Status NoAnswer(const HttpUrl& url, std::string_view what, const Error& error) {
  const std::string why = error == beast::error::timeout ? "the time is over" : error.message();
  return Unavailable(StrCat(url.Text(), ": ", what, ": ", why));
}

// One request and its answer; it lives in the handlers of its next step.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(asio::io_context& context, const HttpUrl& url, std::chrono::seconds timeout,
           HttpReader& reader)
      : stream_(context), url_(url), timeout_(timeout), reader_(reader) {
    parser_.header_limit(kMaxHeadBytes);
    parser_.body_limit(std::numeric_limits<uint64_t>::max());
  }

  void Start(http::request<http::string_body> request,
             const asio::ip::tcp::resolver::results_type& addresses) {
    request_ = std::move(request);
    stream_.expires_after(timeout_);
    stream_.async_connect(
        addresses, [self = shared_from_this()](const Error& error, const auto& /*endpoint*/) {
          if (error) return self->End("cannot connect", error);
          self->Write();
        });
  }

 private:
  void Write() {
    Error ignored;  // Nagle's delay would only be the client's own
    stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    http::async_write(stream_, request_,
                      [self = shared_from_this()](const Error& error, size_t /*bytes*/) {
                        // A server may refuse a request before it has read all of it.
                        if (error == beast::error::timeout) return self->End("cannot send", error);
                        self->ReadHead();
                      });
  }

  void ReadHead() {
    stream_.expires_after(timeout_);
    http::async_read_header(stream_, buffer_, parser_,
                            [self = shared_from_this()](const Error& error, size_t /*bytes*/) {
                              if (error) return self->End("no answer", error);
                              self->reader_.OnHead(self->parser_.get().result_int());
                              self->ReadBody();
                            });
  }

  void ReadBody() {
    if (parser_.is_done()) return End("", {});
    parser_.get().body().data = piece_.data();
    parser_.get().body().size = piece_.size();
    stream_.expires_after(timeout_);
    http::async_read_some(
        stream_, buffer_, parser_, [self = shared_from_this()](Error error, size_t /*bytes*/) {
          const size_t size = self->piece_.size() - self->parser_.get().body().size;
          if (size > 0) self->reader_.OnBody(std::string_view(self->piece_.data(), size));
          if (error == http::error::need_buffer) error = {};
          if (error) return self->End("the answer is cut short", error);
          self->ReadBody();
        });
  }

  void End(std::string_view what, const Error& error) {
    stream_.close();  // its timer, too
    reader_.OnEnd(error ? NoAnswer(url_, what, error) : OkStatus());
  }

  beast::tcp_stream stream_;
  const HttpUrl& url_;
  std::chrono::seconds timeout_;
  HttpReader& reader_;
  http::request<http::string_body> request_;
  http::response_parser<http::buffer_body> parser_;
  beast::flat_buffer buffer_;
  std::array<char, kPieceBytes> piece_;
};

}  // namespace

struct HttpLoop::Impl {
  HttpUrl url;
  std::string api_key;
  std::chrono::seconds timeout;
  asio::io_context context{1};
  asio::ip::tcp::resolver::results_type addresses;
};

HttpLoop::HttpLoop(HttpUrl url, std::string api_key, std::chrono::seconds timeout)
    : impl_(new Impl{std::move(url), std::move(api_key), timeout}) {}

HttpLoop::~HttpLoop() = default;

Status HttpLoop::Resolve() {
  Error error;
  asio::ip::tcp::resolver resolver(impl_->context);
  impl_->addresses = resolver.resolve(impl_->url.host, impl_->url.port, error);
  return error ? NoAnswer(impl_->url, "no such host", error) : OkStatus();
}

void HttpLoop::Send(HttpCall call, HttpReader& reader) {
  const HttpUrl& url = impl_->url;
  http::request<http::string_body> request(call.body.empty() ? http::verb::get : http::verb::post,
                                           url.path + call.target, 11);
  request.set(http::field::host, url.Authority());
  request.set(http::field::connection, "close");
  if (!impl_->api_key.empty()) request.set(http::field::authorization, "Bearer " + impl_->api_key);
  if (!call.body.empty()) {
    request.set(http::field::content_type, "application/json");
    request.body() = std::move(call.body);
    request.prepare_payload();
  }
  std::make_shared<Exchange>(impl_->context, url, impl_->timeout, reader)
      ->Start(std::move(request), impl_->addresses);
}

void HttpLoop::After(std::chrono::nanoseconds delay, std::function<void()> then) {
  auto timer = std::make_shared<asio::steady_timer>(impl_->context, delay);
  timer->async_wait([timer, then = std::move(then)](const Error& error) {
    if (!error) then();
  });
}

void HttpLoop::Run() {
  impl_->context.restart();
  impl_->context.run();
}

void HttpLoop::Stop() { impl_->context.stop(); }

}  // namespace gdn
