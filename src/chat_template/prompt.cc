// SPDX-License-Identifier: Apache-2.0
#include "chat_template/prompt.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/str.h"
#include "chat_template/text.h"
#include "chat_template/text_search.h"

namespace gdn {
namespace {

using nlohmann::ordered_json;

// The names of a message's reasoning; the first is the one that templates read.
constexpr std::array<const char*, 3> kReasoning = {"reasoning_content", "thinking", "reasoning"};

constexpr std::array<const char*, 4> kReserved = {"messages", "tools", "documents",
                                                  "add_generation_prompt"};

// Marks the end of the text to continue. The space shows whether the template trims its messages.
constexpr std::string_view kTag = "CONTINUE_FINAL_MESSAGE_TAG ";
constexpr std::string_view kTrimmedTag = kTag.substr(0, kTag.size() - 1);

// ordered_json searches on every insertion, which strangers could make quadratic; here names are
// known to be new.
void Append(ordered_json& object, const std::string& name, ordered_json value) {
  auto& members = object.get_ref<ordered_json::object_t&>();
  static_cast<ordered_json::object_t::Container&>(members).emplace_back(name, std::move(value));
}

const ordered_json* FindMember(const ordered_json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// Without null members, and with the reasoning under the names that templates read.
ordered_json Normalized(const ordered_json& message) {
  const ordered_json* reasoning = nullptr;
  for (const char* const name : kReasoning) {
    if (reasoning == nullptr) reasoning = FindMember(message, name);
  }
  const ordered_json* const thinking = FindMember(message, "thinking");
  ordered_json out = ordered_json::object();
  if (reasoning != nullptr) Append(out, "thinking", thinking == nullptr ? *reasoning : *thinking);
  for (const auto& [name, value] : message.items()) {
    if (!value.is_null() && name != "thinking") Append(out, name, value);
  }
  if (reasoning != nullptr && FindMember(message, "reasoning_content") == nullptr) {
    Append(out, "reasoning_content", *reasoning);
  }
  return out;
}

Result<ordered_json> NormalizedMessages(const ordered_json& messages) {
  if (!messages.is_array() || messages.empty()) {
    return InvalidArgument("messages must be a list of at least one message");
  }
  ordered_json out = ordered_json::array();
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!messages[i].is_object()) {
      return InvalidArgument(StrCat("messages[", i, "] is not an object"));
    }
    out.push_back(Normalized(messages[i]));
  }
  return out;
}

Status CheckObjects(const ordered_json& list, std::string_view name) {
  if (list.is_null()) return OkStatus();
  if (!list.is_array()) return InvalidArgument(StrCat(name, " is not a list"));
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_object()) return InvalidArgument(StrCat(name, "[", i, "] is not an object"));
  }
  return OkStatus();
}

// Appends the tag to the last text of a list of parts; returns the text.
Result<std::string> TagParts(ordered_json& parts, const std::string& field) {
  for (size_t i = parts.size(); i-- > 0;) {
    if (!parts[i].is_object()) continue;
    const auto text = parts[i].find("text");
    if (text == parts[i].end() || !text->is_string()) continue;
    const auto original = text->get<std::string>();
    *text = original + std::string(kTag);
    return original;
  }
  return InvalidArgument(StrCat("the last message has no text in ", Quoted(field), " to continue"));
}

// Appends the tag to the member `field` of the message; returns the text before it.
Result<std::string> TagMessage(ordered_json& message, const std::string& field,
                               const std::string& source) {
  const auto found = message.find(field);
  if (found == message.end()) {
    return InvalidArgument(StrCat("the last message has no ", Quoted(field), " to continue"));
  }
  // The reasoning has several names; the template reads one of them.
  std::vector<std::string> fields = {field};
  for (const char* const name : kReasoning) {
    if (field != name) continue;
    fields.clear();
    for (const char* const alias : kReasoning) {
      const auto other = message.find(alias);
      if (other != message.end() && *other == *found) fields.emplace_back(alias);
    }
  }
  bool is_read = false;
  for (const std::string& name : fields) is_read |= source.find(name) != std::string::npos;
  if (!is_read) {
    return InvalidArgument(StrCat("the chat template does not read ", Quoted(field),
                                  ", so that it cannot be continued"));
  }
  if (found->is_array()) return TagParts(*found, field);
  if (!found->is_string()) {
    return InvalidArgument(StrCat(Quoted(field), " of the last message is neither text nor list"));
  }
  const auto original = found->get<std::string>();
  for (const std::string& name : fields) message[name] = original + std::string(kTag);
  return original;
}

// Cuts the prompt where the tag stands.
Result<std::string> CutAtTag(std::string prompt, const std::string& final_text) {
  const std::string_view wanted = jinja::StripSpace(final_text, /*left=*/true, /*right=*/true);
  const size_t at = prompt.rfind(kTrimmedTag);
  if (at == std::string::npos || jinja::FindText(prompt, wanted, 0) == std::string_view::npos) {
    return InvalidArgument(
        "the chat template leaves out parts of the last message, so that it cannot be continued");
  }
  const bool keeps_space = prompt.compare(at, kTag.size(), kTag) == 0;
  prompt.resize(at);
  if (!keeps_space) {
    prompt.resize(jinja::StripSpace(prompt, /*left=*/false, /*right=*/true).size());
  }
  return prompt;
}

}  // namespace

Result<std::string> BuildPrompt(const ChatTemplate& chat_template, const PromptRequest& request,
                                const RenderOptions& options) {
  GDN_ASSIGN_OR_RETURN(ordered_json messages, NormalizedMessages(request.messages));
  GDN_RETURN_IF_ERROR(CheckObjects(request.tools, "tools"));
  GDN_RETURN_IF_ERROR(CheckObjects(request.documents, "documents"));
  std::string final_text;
  if (request.continue_final_message) {
    if (request.add_generation_prompt) {
      return InvalidArgument("a prompt either continues the last message or starts a new one");
    }
    GDN_ASSIGN_OR_RETURN(final_text, TagMessage(messages.back(), *request.continue_final_message,
                                                chat_template.source()));
  }
  ordered_json context = ordered_json::object();
  context["messages"] = std::move(messages);
  context["tools"] = request.tools;
  context["documents"] = request.documents;
  context["add_generation_prompt"] = request.add_generation_prompt;
  if (!request.variables.is_null()) {
    if (!request.variables.is_object()) return InvalidArgument("variables is not an object");
    for (const auto& [name, value] : request.variables.items()) {
      if (std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved)) {
        return InvalidArgument(StrCat("the variable ", Quoted(name), " has a place of its own"));
      }
      Append(context, name, value);
    }
  }
  GDN_ASSIGN_OR_RETURN(std::string prompt, chat_template.Render(context, options));
  if (!request.continue_final_message) return prompt;
  return CutAtTag(std::move(prompt), final_text);
}

}  // namespace gdn
