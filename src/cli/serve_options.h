// SPDX-License-Identifier: Apache-2.0
// What gdn serve is asked to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "server/server.h"
#include "session/session.h"

namespace CLI {
class App;
}

namespace gdn {

struct ServeOptions {
  SessionOptions session;
  ServerOptions server;
  std::string device = "auto";
  std::string prefill = "auto";
  std::string gemm = "own";
  std::string log_level = "info";
  std::vector<std::string> api_keys;
  std::string api_key_file;
  bool needs_no_key = false;
  int64_t max_body_mib = 8;
  int64_t max_header_kib = 16;
  double request_timeout = 30;  // seconds, as are those that follow
  double write_timeout = 60;
  double idle_timeout = 75;
  double drain_timeout = 30;
  double log_interval = 10;
  bool json = false;
};

void AddServeOptions(CLI::App& command, ServeOptions& options);

// Fills in what follows from the options, and checks that they agree: who may use a server that
// other machines reach. Errors: kInvalidArgument.
Status CompleteServeOptions(ServeOptions& options);

}  // namespace gdn
