// SPDX-License-Identifier: Apache-2.0
// A client that sends what it is told, byte for byte.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/str.h"

namespace gdn {

struct TestResponse {
  int status = 0;  // 0: the connection ended before one
  std::string head;
  std::string body;

  nlohmann::json json() const { return nlohmann::json::parse(body); }
  std::string error() const { return json()["error"]["message"]; }
  bool HasHeader(std::string_view line) const { return head.find(line) != std::string::npos; }
  // The data of each event of a stream.
  std::vector<std::string> events() const {
    std::vector<std::string> out;
    for (size_t at = 0; at < body.size();) {
      const size_t end = body.find("\n\n", at);
      GDN_CHECK(end != std::string::npos && body.compare(at, 6, "data: ") == 0);
      out.push_back(body.substr(at + 6, end - at - 6));
      at = end + 2;
    }
    return out;
  }
};

class TestClient {
 public:
  explicit TestClient(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    GDN_CHECK(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  ~TestClient() { Close(); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  void Close() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  void ShutdownWrite() { shutdown(socket_, SHUT_WR); }

  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;  // the server has hung up: what it said can still be read
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }

  // Something has come that has not been read, be it the end.
  bool HasInput() const {
    char byte = 0;
    return recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
  }

  // The next response; of a HEAD without its body.
  TestResponse Read(bool is_head = false) {
    TestResponse out;
    out.head = TakeUntil("\r\n\r\n");
    if (out.head.size() < 12) return {};
    out.status = std::atoi(out.head.c_str() + 9);
    if (is_head || out.status == 204 || out.status == 100) return out;
    const size_t length = out.head.find("Content-Length: ");
    if (length != std::string::npos) {
      out.body = Take(static_cast<size_t>(std::atoll(out.head.c_str() + length + 16)));
    } else if (out.HasHeader("Transfer-Encoding: chunked")) {
      while (const size_t size = std::strtoul(TakeUntil("\r\n").c_str(), nullptr, 16)) {
        out.body += Take(size);
        Take(2);
      }
      Take(2);
    } else {
      while (Fill()) {
      }
      out.body = std::exchange(input_, {});
    }
    return out;
  }

  // Some of what comes; "" at the end.
  std::string ReadSome() {
    if (input_.empty()) Fill();
    return std::exchange(input_, {});
  }
  // Waits for the server to close.
  bool IsAtEnd() { return input_.empty() && !Fill() && !has_timed_out_; }

 private:
  bool Fill() {
    char buffer[4096];
    const ssize_t count = recv(socket_, buffer, sizeof(buffer), 0);
    has_timed_out_ = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (count <= 0) return false;
    input_.append(buffer, static_cast<size_t>(count));
    return true;
  }
  std::string Take(size_t count) {
    while (input_.size() < count && Fill()) {
    }
    const std::string out = input_.substr(0, count);
    input_.erase(0, count);
    return out;
  }
  std::string TakeUntil(std::string_view end) {
    size_t at = 0;
    while ((at = input_.find(end)) == std::string::npos) {
      if (!Fill()) return "";
    }
    return Take(at + end.size());
  }

  int socket_;
  bool has_timed_out_ = false;
  std::string input_;
};

inline std::string GetText(std::string_view path, std::string_view headers = "") {
  return StrCat("GET ", path, " HTTP/1.1\r\nHost: localhost\r\n", headers, "\r\n");
}

inline std::string PostText(std::string_view path, std::string_view body,
                            std::string_view headers = "") {
  return StrCat("POST ", path,
                " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                "Content-Length: ",
                body.size(), "\r\n", headers, "\r\n", body);
}

inline TestResponse Ask(int port, std::string_view request) {
  TestClient client(port);
  client.Send(request);
  return client.Read();
}

}  // namespace gdn
