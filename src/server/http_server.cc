// SPDX-License-Identifier: Apache-2.0
#include "server/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/str.h"
#include "server/http_connection.h"

namespace gdn {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// Connections beyond the limit that are told so; others are closed unheard.
constexpr int64_t kMaxRefused = 64;
// After an accept that failed for want of descriptors or memory.
constexpr std::chrono::milliseconds kAcceptPause(100);

Result<asio::ip::address> AddressOf(const std::string& host) {
  if (host == "localhost") return asio::ip::address(asio::ip::address_v4::loopback());
  ErrorCode error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (error) {
    return InvalidArgument(StrCat("host is ", Quoted(host),
                                  ", want an address of this machine: 127.0.0.1, 0.0.0.0, ::1"));
  }
  return address;
}

class AsioServer final : public HttpServer {
 public:
  AsioServer(const HttpOptions& options, HttpHandler& handler)
      : shared_{.options = options, .handler = handler},
        workers_(static_cast<size_t>(options.num_handler_threads)),
        large_workers_(static_cast<size_t>(options.num_handler_threads)),
        acceptor_(context_),
        pause_(context_) {
    shared_.workers = &workers_;
    shared_.large_workers = &large_workers_;
  }
  ~AsioServer() override { Stop(); }

  Status Listen(const asio::ip::address& address) {
    const tcp::endpoint endpoint(address, static_cast<uint16_t>(shared_.options.port));
    ErrorCode error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (!error) return OkStatus();
    return InvalidArgument(StrCat("cannot listen on ", shared_.options.host, " port ",
                                  shared_.options.port, ": ", error.message()));
  }

  Status StartThreads() {
    Accept();
    try {
      for (int i = 0; i < shared_.options.num_threads; ++i) {
        threads_.emplace_back([this] { Run(); });
      }
    } catch (const std::system_error& error) {
      return Internal(StrCat("a thread of the server cannot be started: ", error.what()));
    }
    return OkStatus();
  }

  int port() const override { return port_; }
  int64_t open_connections() const override { return shared_.open_connections; }
  int64_t num_unanswered() const override { return shared_.num_unanswered; }
  void Drain() override { shared_.is_draining = true; }

  void Stop() override {
    for (asio::thread_pool* pool : {&workers_, &large_workers_}) {
      pool->stop();
      pool->join();
    }
    context_.stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  // What has no memory for its answer stays without one; the others go on.
  void Run() {
    for (;;) {
      try {
        context_.run();
        return;
      } catch (const std::exception& error) {
        Log(LogLevel::kError, StrCat("server: ", error.what()));
      }
    }
  }

  void Accept() {
    acceptor_.async_accept(asio::make_strand(context_),
                           [this](ErrorCode error, tcp::socket socket) {
                             if (error == asio::error::operation_aborted) return;
                             if (error) return AcceptLater();
                             try {
                               OnAccepted(std::move(socket));
                             } catch (const std::exception& failure) {  // no memory for it
                               Log(LogLevel::kError, StrCat("server: ", failure.what()));
                               return AcceptLater();
                             }
                             Accept();
                           });
  }

  void AcceptLater() {
    pause_.expires_after(kAcceptPause);
    pause_.async_wait([this](ErrorCode error) {
      if (!error) Accept();
    });
  }

  void OnAccepted(tcp::socket socket) {
    const int64_t excess = shared_.open_connections - shared_.options.max_connections;
    if (excess >= kMaxRefused) return;
    const auto connection = std::make_shared<HttpConnection>(std::move(socket), shared_);
    connection->Post([connection, excess] {
      if (excess < 0) {
        connection->Start();
      } else {
        connection->Refuse();
      }
    });
  }

  // Handlers that wait in the pool or the context own connections, which use what is above.
  HttpShared shared_;
  asio::io_context context_;
  asio::thread_pool workers_;
  asio::thread_pool large_workers_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  int port_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<bool> IsLoopback(const std::string& host) {
  GDN_ASSIGN_OR_RETURN(const asio::ip::address address, AddressOf(host));
  return address.is_loopback();
}

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options,
                                                      HttpHandler& handler) {
  GDN_ASSIGN_OR_RETURN(const asio::ip::address address, AddressOf(options.host));
  auto server = std::make_unique<AsioServer>(options, handler);
  GDN_RETURN_IF_ERROR(server->Listen(address));
  GDN_RETURN_IF_ERROR(server->StartThreads());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace gdn
