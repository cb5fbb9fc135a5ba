// SPDX-License-Identifier: Apache-2.0
// A server in the process of a test, on plain sockets: what it answers is the test's to write.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/str.h"
#include "bench_serve/http_loop.h"

namespace gdn {

// A connection of which the request was read.
class FakeConnection {
 public:
  FakeConnection(int socket, std::string head) : head_(std::move(head)), socket_(socket) {}

  const std::string& head() const { return head_; }

  void Write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }

 private:
  std::string head_;
  int socket_;
};

class FakeServer {
 public:
  // answer writes the whole answer, its head too; the connection is closed after it. It runs on a
  // thread of its own.
  explicit FakeServer(std::function<void(const FakeConnection&)> answer)
      : answer_(std::move(answer)), socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    GDN_CHECK(socket_ >= 0 && bind(socket_, any, size) == 0 && listen(socket_, 128) == 0);
    GDN_CHECK(getsockname(socket_, any, &size) == 0);
    url_ = {.host = "127.0.0.1", .port = StrCat(ntohs(address.sin_port))};
    accepting_ = std::thread([this] { Accept(); });
  }

  ~FakeServer() {
    shutdown(socket_, SHUT_RDWR);
    accepting_.join();
    for (std::thread& thread : answering_) thread.join();
    close(socket_);
  }

  const HttpUrl& url() const { return url_; }
  int most_at_once() const { return most_at_once_; }

 private:
  void Accept() {
    for (int client = accept(socket_, nullptr, nullptr); client >= 0;
         client = accept(socket_, nullptr, nullptr)) {
      answering_.emplace_back([this, client] {
        const int now = ++at_once_;
        for (int most = most_at_once_; now > most;) most_at_once_.compare_exchange_weak(most, now);
        Serve(client);
        --at_once_;
        close(client);
      });
    }
  }

  void Serve(int client) {
    constexpr std::string_view kLength = "Content-Length: ";
    std::string bytes;
    std::array<char, 4096> piece;
    size_t head_size = std::string::npos;
    size_t body_size = 0;
    while (head_size == std::string::npos || bytes.size() < head_size + body_size) {
      const ssize_t count = recv(client, piece.data(), piece.size(), 0);
      if (count <= 0) return;
      bytes.append(piece.data(), static_cast<size_t>(count));
      const size_t end = bytes.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      head_size = end + 4;
      const size_t length = bytes.find(kLength);
      if (length < head_size) body_size = std::stoul(bytes.substr(length + kLength.size()));
    }
    answer_(FakeConnection(client, bytes.substr(0, head_size)));
  }

  std::function<void(const FakeConnection&)> answer_;
  int socket_;
  HttpUrl url_;
  std::atomic<int> at_once_ = 0;
  std::atomic<int> most_at_once_ = 0;
  std::vector<std::thread> answering_;
  std::thread accepting_;
};

inline std::string Chunked(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string size;
  for (size_t rest = bytes.size(); rest > 0; rest /= 16)
    size.insert(size.begin(), kDigits[rest % 16]);
  return StrCat(size, "\r\n", bytes, "\r\n");
}

inline constexpr std::string_view kStreamHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

}  // namespace gdn
