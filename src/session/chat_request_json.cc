// SPDX-License-Identifier: Apache-2.0
#include "session/chat_request_json.h"

#include <utility>

#include "base/str.h"
#include "io/json_file.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

Status Wrong(const std::string& name, std::string_view member, const Json& value,
             std::string_view must) {
  return InvalidArgument(StrCat(name, ": ", member, " is ", value.type_name(), ", must be ", must));
}

Status TakeMember(const std::string& key, Json& value, const std::string& name,
                  ChatRequest& request) {
  if (key == "messages") {
    request.messages = std::move(value);
  } else if (key == "tools" || key == "documents") {
    if (!value.is_array() && !value.is_null()) return Wrong(name, key, value, "an array");
    (key == "tools" ? request.tools : request.documents) = std::move(value);
  } else if (key == "chat_template_kwargs") {
    if (!value.is_object() && !value.is_null()) return Wrong(name, key, value, "an object");
    request.variables = std::move(value);
  } else if (key == "continue_final_message") {
    if (!value.is_boolean()) return Wrong(name, key, value, "a boolean");
    request.continue_final_message = value.get<bool>();
  } else {
    return InvalidArgument(StrCat(name, ": ", Quoted(key),
                                  " is not known here, want messages, tools, documents, "
                                  "chat_template_kwargs or continue_final_message"));
  }
  return OkStatus();
}

}  // namespace

Status CheckMessages(const Json& messages, const std::string& name) {
  if (!messages.is_array()) return Wrong(name, "messages", messages, "an array");
  size_t index = 0;
  for (const Json& message : messages) {
    const std::string where = StrCat("messages[", index++, "]");
    if (!message.is_object()) return Wrong(name, where, message, "an object");
    const auto role = message.find("role");
    if (role == message.end()) return InvalidArgument(StrCat(name, ": ", where, " has no role"));
    if (!role->is_string()) return Wrong(name, where + ".role", *role, "a string");
  }
  return OkStatus();
}

Result<ChatRequest> ParseChatRequest(std::string_view json, const std::string& name) {
  GDN_ASSIGN_OR_RETURN(Json tree, ParseOrderedJson(json, name));
  ChatRequest out;
  if (tree.is_array()) {
    out.messages = std::move(tree);
  } else if (tree.is_object()) {
    if (!tree.contains("messages")) return InvalidArgument(name + ": has no messages");
    for (auto& [key, value] : tree.items()) {
      GDN_RETURN_IF_ERROR(TakeMember(key, value, name, out));
    }
  } else {
    return Wrong(name, "it", tree, "an array of messages or an object");
  }
  GDN_RETURN_IF_ERROR(CheckMessages(out.messages, name));
  if (out.continue_final_message && out.messages.empty()) {
    return InvalidArgument(name +
                           ": there is no message that continue_final_message could continue");
  }
  return out;
}

}  // namespace gdn
