// SPDX-License-Identifier: Apache-2.0
// Calls of tools, as models write them into a reply between <tool_call> and </tool_call>: the JSON
// {"name": ..., "arguments": {...}} (Hermes, Qwen3, Qwen3-Next), or <function=NAME> with a
// <parameter=NAME> for each argument (Qwen3-Coder, Qwen3.5), where True and False are read as
// Python has them, too.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gdn {

struct ToolCall {
  std::string name;
  std::string arguments;  // the text of a JSON object
};

// What stands between the two marks; nothing where it is no call. tools: as the request has them
// (an array of {"type": "function", "function": {"name", "parameters": JSON schema}}); they say
// which arguments of the second form are no strings. What does not read as its type is a string.
std::optional<ToolCall> ParseToolCall(std::string_view text, const nlohmann::ordered_json& tools);

// Takes the calls out of an answer that comes in pieces, with the white space behind them and,
// where no more text comes, before them. What is marked as a call and cannot be read stays text.
class ToolCallSplitter {
 public:
  explicit ToolCallSplitter(std::shared_ptr<const nlohmann::ordered_json> tools)
      : tools_(std::move(tools)) {}

  struct Parts {
    std::string text;
    std::vector<ToolCall> calls;
  };
  // What is certain with this piece.
  Parts Append(std::string_view piece);
  // The rest, when no more text comes. The last call may lack its end.
  Parts Flush();

 private:
  void Advance(Parts& out, bool end);
  bool TakeText(Parts& out, bool end);
  bool TakeCall(Parts& out, bool end);

  std::shared_ptr<const nlohmann::ordered_json> tools_;
  std::string pending_;
  bool is_inside_ = false;   // a call
  bool is_behind_ = false;   // one, with nothing but white space since
  bool has_text_ = false;    // has been returned
  std::string space_;        // between it and the calls behind it
  size_t num_searched_ = 0;  // bytes of the call in which its end does not begin
};

}  // namespace gdn
