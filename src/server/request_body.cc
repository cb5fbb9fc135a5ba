// SPDX-License-Identifier: Apache-2.0
#include "server/request_body.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/str.h"
#include "io/json_file.h"
#include "session/chat_request_json.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

// Of one body: the parsed tree takes some 100 bytes a value, whatever the body's own size.
constexpr size_t kMaxValues = size_t{1} << 19;
constexpr size_t kMaxTools = 1024;  // each call of one looks for it among them

size_t CountValues(const Json& value) {
  size_t count = 1;
  if (value.is_structured()) {
    for (const Json& item : value) count += CountValues(item);
  }
  return count;
}

// Clients send the arguments of a call as the text of a JSON object, templates want the object.
// num_values: that all arguments of a request may still have.
void ReadToolCalls(FieldReader& fields, Json& message, size_t& num_values) {
  const auto calls = message.find("tool_calls");
  if (calls == message.end() || !calls->is_array()) return;
  for (Json& call : *calls) {
    const auto function = call.is_object() ? call.find("function") : call.end();
    if (function == call.end() || !function->is_object()) continue;
    const auto arguments = function->find("arguments");
    if (arguments == function->end() || !arguments->is_string()) continue;
    const auto& text = arguments->get_ref<const std::string&>();
    Result<Json> tree = Json::object();  // "": none
    if (!text.empty()) tree = ParseOrderedJson(text, "arguments", {.max_values = num_values});
    if (!tree.ok() || !tree->is_object()) {
      return fields.Fail("messages", StrCat("the arguments of a tool call are ", Quoted(text),
                                            ", want the text of a JSON object"));
    }
    num_values -= std::min(num_values, CountValues(*tree));
    *arguments = std::move(*tree);
  }
}

void ReadMessages(FieldReader& fields, Json& out) {
  Json* messages = fields.Find("messages");
  if (messages == nullptr) {
    return fields.Fail("messages", "messages is missing, want a list of messages");
  }
  if (const Status status = CheckMessages(*messages, "request"); !status.ok()) {
    return fields.Fail("messages", status.message());
  }
  if (messages->empty()) {
    return fields.Fail("messages", "messages is empty, want at least one message");
  }
  size_t num_values = kMaxValues;
  for (Json& message : *messages) {
    const auto content = message.find("content");
    if (content == message.end() && !message.contains("tool_calls")) {
      return fields.Fail("messages", "a message has no content, want a text or a list of parts");
    }
    if (content != message.end() && !content->is_null() && !content->is_string() &&
        !content->is_array()) {
      return fields.Fail("messages", StrCat("the content of a message is ", Describe(*content),
                                            ", want a text, a list of parts or null"));
    }
    ReadToolCalls(fields, message, num_values);
  }
  out = std::move(*messages);
}

void ReadTools(FieldReader& fields, Json& out) {
  Json* tools = fields.Find("tools");
  if (tools != nullptr && !tools->is_array()) return fields.Wrong("tools", *tools, "a list");
  if (tools != nullptr && tools->size() > kMaxTools) {
    return fields.Fail("tools",
                       StrCat("tools has ", tools->size(), " entries, want at most ", kMaxTools));
  }
  const Json* choice = fields.Find("tool_choice");
  if (choice != nullptr && *choice != "auto" && *choice != "none") {
    return fields.Wrong("tool_choice", *choice,
                        "\"auto\" or \"none\": a call cannot be forced here");
  }
  const bool is_wanted = choice == nullptr || *choice == "auto";
  if (tools != nullptr && is_wanted) out = std::move(*tools);
}

}  // namespace

std::optional<ApiError> ParseBody(std::string_view body, const RequestRules& rules, Json& out) {
  if (body.empty()) return ApiError{.message = "the body is empty, want a JSON object"};
  Result<Json> tree = ParseOrderedJson(
      body, "request", {.max_bytes = rules.max_bytes, .max_depth = 64, .max_values = kMaxValues});
  if (!tree.ok()) return ApiErrorOf(tree.status());
  if (!tree->is_object()) {
    return ApiError{.message = StrCat("request is ", tree->type_name(), ", want a JSON object")};
  }
  out = std::move(*tree);
  return std::nullopt;
}

void ReadConversation(FieldReader& fields, ChatRequest& out) {
  ReadMessages(fields, out.messages);
  ReadTools(fields, out.tools);
  if (Json* documents = fields.Find("documents")) {
    if (!documents->is_array()) return fields.Wrong("documents", *documents, "a list");
    out.documents = std::move(*documents);
  }
  if (Json* variables = fields.Find("chat_template_kwargs")) {
    if (!variables->is_object())
      return fields.Wrong("chat_template_kwargs", *variables, "an object");
    out.variables = std::move(*variables);
  }
  fields.Boolean("continue_final_message", out.continue_final_message);
  bool starts_reply = true;
  fields.Boolean("add_generation_prompt", starts_reply);
  if (!starts_reply && !out.continue_final_message) {
    fields.Fail("add_generation_prompt",
                "add_generation_prompt is false, which needs continue_final_message: the next "
                "text is the assistant's");
  }
}

void ReadTokens(FieldReader& fields, const char* name, const Json& list,
                std::vector<int32_t>& out) {
  std::vector<int32_t> tokens;
  tokens.reserve(list.size());
  for (const Json& item : list) {
    const std::optional<int64_t> id = IntegerOf(item);
    if (!id.has_value() || *id < 0 || *id > std::numeric_limits<int32_t>::max()) {
      return fields.Wrong(name, item, "token ids in its list");
    }
    tokens.push_back(static_cast<int32_t>(*id));
  }
  out = std::move(tokens);
}

void ReadPrompts(FieldReader& fields, std::vector<PromptInput>& out) {
  constexpr const char* kMust = "a text, a list of texts, a list of ids or a list of such lists";
  const Json* prompt = fields.Find("prompt");
  if (prompt == nullptr) return fields.Fail("prompt", StrCat("prompt is missing, want ", kMust));
  if (prompt->is_string()) {
    out.emplace_back(prompt->get<std::string>());
    return;
  }
  if (!prompt->is_array()) return fields.Wrong("prompt", *prompt, kMust);
  if (prompt->empty()) return fields.Fail("prompt", StrCat("prompt is empty, want ", kMust));
  if (prompt->front().is_number()) {
    return ReadTokens(fields, "prompt", *prompt,
                      std::get<std::vector<int32_t>>(out.emplace_back(std::vector<int32_t>())));
  }
  for (const Json& item : *prompt) {
    if (item.is_string()) {
      out.emplace_back(item.get<std::string>());
    } else if (item.is_array()) {
      ReadTokens(fields, "prompt", item,
                 std::get<std::vector<int32_t>>(out.emplace_back(std::vector<int32_t>())));
    } else {
      return fields.Wrong("prompt", item, kMust);
    }
  }
}

}  // namespace gdn
