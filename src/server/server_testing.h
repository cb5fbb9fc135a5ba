// SPDX-License-Identifier: Apache-2.0
// A server over models/tiny for tests.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "base/function_ref.h"
#include "server/http_client_testing.h"
#include "server/server.h"
#include "session/session_testing.h"

namespace gdn {

inline std::unique_ptr<Server> StartWithoutModel(ServerOptions options = {}) {
  options.http.port = 0;
  if (options.service.model_name.empty()) options.service.model_name = "tiny";
  Result<std::unique_ptr<Server>> server = Server::Start(options);
  GDN_CHECK(server.ok());
  return std::move(server).value();
}

inline std::unique_ptr<Server> StartServer(const ServerOptions& options = {}) {
  auto server = StartWithoutModel(options);
  server->SetSession(LoadTiny(2, 8));
  return server;
}

// Waits until it is so, at most 20 seconds.
inline bool Becomes(FunctionRef<bool()> what) {
  for (int i = 0; i < 2000; ++i) {
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// The value of a line of /metrics; -1 where there is none.
inline double Metric(int port, std::string_view name) {
  const std::string text = Ask(port, GetText("/metrics")).body;
  const bool is_ours = name.starts_with("gdn:");
  const std::string line = StrCat("\n", name, is_ours ? "{model_name=\"tiny\"} " : " ");
  const size_t at = text.find(line);
  return at == std::string::npos ? -1 : std::atof(text.c_str() + at + line.size());
}

// A request whose answer ends nowhere near.
inline std::string LongRequest(std::string_view members = "") {
  return PostText(
      "/v1/completions",
      StrCat(R"({"prompt": "And the", "max_tokens": 500, "ignore_eos": true)", members, "}"));
}

}  // namespace gdn
