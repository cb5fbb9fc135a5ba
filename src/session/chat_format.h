// SPDX-License-Identifier: Apache-2.0
// How a checkpoint writes conversations: its chat template and the special tokens that it names.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "chat_template/chat_template.h"
#include "session/reasoning_splitter.h"

namespace gdn {

// A conversation whose next message is the assistant's. JSON values keep the order of their
// members, which shows in prompts (ParseOrderedJson).
struct ChatRequest {
  // As in PromptRequest (chat_template/prompt.h).
  nlohmann::ordered_json messages;
  nlohmann::ordered_json tools;
  nlohmann::ordered_json documents;
  // More variables of the template (enable_thinking, ...): an object or null.
  nlohmann::ordered_json variables;
  // The last message is the beginning of the reply, which the model goes on with.
  bool continue_final_message = false;
};

struct ChatPrompt {
  std::string text;  // special tokens by name
  ReasoningStart reasoning = ReasoningStart::kNever;
};

class ChatFormat {
 public:
  // From dir/chat_template.jinja, else the chat_template of dir/tokenizer_config.json: a template,
  // or a list of named ones of which "default" and "tool_use" count. Neither file has to be there.
  // Errors: kInvalidArgument for files that are not as they must be, naming the file. A template
  // that cannot be parsed is an error of BuildPrompt alone: prompts of plain text do not need it.
  static Result<ChatFormat> Load(const std::string& dir);

  bool has_template() const { return !source_.empty(); }
  // The checkpoint's name for the end of a text, as tokenizer_config.json has it; "" for none.
  std::string_view eos_token() const { return eos_token_; }

  // Whether the template has calls of tools as tool_call.h reads them.
  bool marks_tool_calls() const { return marks_tool_calls_; }

  // The prompt for the assistant's next message. Safe from several threads.
  // Errors: kUnsupported where there is no template, it has constructs that are not here or no
  // place for the tools or documents, or a message has a part that is not text; kInvalidArgument
  // for a request that is not as it must be or that the template refuses.
  Result<ChatPrompt> BuildPrompt(const ChatRequest& request) const;

 private:
  Status UseTemplates(const nlohmann::json& value, const std::string& file);

  std::string source_;  // the file's name, for messages; "" without a template
  std::string eos_token_;
  nlohmann::ordered_json special_tokens_ = nlohmann::ordered_json::object();
  Status status_;  // of parsing
  std::optional<ChatTemplate> default_;
  std::optional<ChatTemplate> tool_use_;  // for requests with tools
  bool marks_reasoning_ = false;
  bool marks_tool_calls_ = false;
};

}  // namespace gdn
