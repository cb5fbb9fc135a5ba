// SPDX-License-Identifier: Apache-2.0
// The prompt of a conversation, as apply_chat_template() of transformers builds it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/status.h"
#include "chat_template/chat_template.h"

namespace gdn {

struct PromptRequest {
  // A list of objects {"role": ..., "content": text or list of parts, ...}, at least one. Members
  // that are null count as missing. The reasoning of a message may be called reasoning_content,
  // thinking or reasoning: templates see it as the first, and as thinking.
  nlohmann::ordered_json messages;
  // Lists of JSON schemas and of documents; null: none.
  nlohmann::ordered_json tools;
  nlohmann::ordered_json documents;
  // More variables of the template: the special tokens (bos_token, ...) and what a request adds
  // (enable_thinking, ...). An object or null.
  nlohmann::ordered_json variables;
  // Whether the prompt ends with the header of the assistant's next message.
  bool add_generation_prompt = false;
  // The prompt ends within this member of the last message ("content", "reasoning_content"), so
  // that the model continues it.
  std::optional<std::string> continue_final_message;
};

// Errors: kInvalidArgument where the request is not as above, and those of ChatTemplate::Render.
Result<std::string> BuildPrompt(const ChatTemplate& chat_template, const PromptRequest& request,
                                const RenderOptions& options = {});

}  // namespace gdn
