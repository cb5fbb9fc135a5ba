// SPDX-License-Identifier: Apache-2.0
// What gdn run is asked to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/report.h"
#include "session/session.h"

namespace gdn {

struct ChatOptions {
  bool enabled = false;
  std::string system;
  std::string messages_file;
  std::string assistant;           // beginning of the reply
  std::string template_kwargs;     // JSON
  std::string reasoning = "auto";  // auto, show or hide
  bool reuse_decoded = false;
};

struct RunOptions {
  SessionOptions session;
  GenerationParams params;
  PromptOptions prompt;
  ChatOptions chat;
  std::string prompt_text;
  std::string ids_file;
  std::vector<int32_t> ids;
  std::string device = "auto";
  std::string prefill = "auto";
  std::string gemm = "own";
  std::string log_level = "warning";
  std::vector<std::string> logit_bias;
  bool ignore_eos = false;
  bool verbose = false;
  bool json = false;
};

}  // namespace gdn
