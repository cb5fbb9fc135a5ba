// SPDX-License-Identifier: Apache-2.0
// What the tests and tools/chat_templates share.
#pragma once

#include <nlohmann/json.hpp>

#include "chat_template/prompt.h"

namespace gdn {

// Members that are missing have their default.
inline PromptRequest RequestOf(const nlohmann::ordered_json& json) {
  PromptRequest request;
  request.messages = json.at("messages");
  if (json.contains("tools")) request.tools = json.at("tools");
  if (json.contains("documents")) request.documents = json.at("documents");
  if (json.contains("variables")) request.variables = json.at("variables");
  request.add_generation_prompt = json.value("add_generation_prompt", false);
  if (json.contains("continue_final_message")) {
    request.continue_final_message = json.at("continue_final_message").get<std::string>();
  }
  return request;
}

// The time of tools/chat_templates/reference.py: Saturday, 14 March 2026, 15:09:26.
inline RenderOptions AtTestTime() {
  RenderOptions options;
  options.now = std::tm{};
  options.now->tm_year = 2026 - 1900;
  options.now->tm_mon = 2;
  options.now->tm_mday = 14;
  options.now->tm_hour = 15;
  options.now->tm_min = 9;
  options.now->tm_sec = 26;
  options.now->tm_wday = 6;
  options.now->tm_yday = 72;
  return options;
}

}  // namespace gdn
