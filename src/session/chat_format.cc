// SPDX-License-Identifier: Apache-2.0
#include "session/chat_format.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/str.h"
#include "chat_template/prompt.h"
#include "io/json_file.h"
#include "io/read_file.h"

namespace gdn {
namespace {

constexpr size_t kMaxTemplateBytes = size_t{1} << 20;
constexpr size_t kMaxVariables = 256;

// The names that transformers gives to templates.
constexpr std::array<const char*, 7> kSpecialTokens = {
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

bool Exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// A token is a text or an object whose content is one.
const std::string* TokenText(const nlohmann::json& value) {
  if (value.is_string()) return value.get_ptr<const std::string*>();
  if (!value.is_object()) return nullptr;
  const auto content = value.find("content");
  return content == value.end() ? nullptr : content->get_ptr<const std::string*>();
}

// The text of the beginning of a reply that the prompt ends with.
std::string ContinuedText(const nlohmann::ordered_json& message) {
  const auto content = message.find("content");
  const bool is_text = content != message.end() && content->is_string();
  // Of a list of parts the last text would do, and it is never inside of reasoning.
  return is_text ? content->get<std::string>() : " ";
}

// A part of a message that is not text would be answered as if it had been seen.
Status CheckParts(const nlohmann::ordered_json& messages) {
  if (!messages.is_array()) return OkStatus();  // the template's own business
  for (size_t i = 0; i < messages.size(); ++i) {
    const auto content = messages[i].is_object() ? messages[i].find("content") : messages[i].end();
    if (content == messages[i].end() || !content->is_array()) continue;
    for (const nlohmann::ordered_json& part : *content) {
      const auto type = part.is_object() ? part.find("type") : part.end();
      if (type == part.end() || *type == "text") continue;
      return Unsupported(StrCat("messages[", i, "] has a part of type ",
                                type->is_string() ? Quoted(type->get<std::string>()) : "?",
                                ", want text alone"));
    }
  }
  return OkStatus();
}

// Whether a template goes through the parts of a message: one of its loops is over some content.
bool LoopsOverContent(std::string_view source) {
  for (size_t at = source.find("{%"); at != std::string_view::npos;
       at = source.find("{%", at + 2)) {
    std::string_view tag = source.substr(at + 2, source.find("%}", at) - at - 2);
    tag.remove_prefix(std::min(tag.find_first_not_of("-+ \n\t"), tag.size()));
    if (!tag.starts_with("for ")) continue;
    const size_t in = tag.find(" in ");
    if (in != std::string_view::npos && tag.find("content", in) != std::string_view::npos)
      return true;
  }
  return false;
}

// The texts of a message's parts, a line each: what vLLM gives to templates that know no parts.
Status JoinParts(nlohmann::ordered_json& messages) {
  if (!messages.is_array()) return OkStatus();
  for (size_t i = 0; i < messages.size(); ++i) {
    const auto content = messages[i].is_object() ? messages[i].find("content") : messages[i].end();
    if (content == messages[i].end() || !content->is_array()) continue;
    std::string text;
    for (const nlohmann::ordered_json& part : *content) {
      const auto found = part.is_object() ? part.find("text") : part.end();
      if (found == part.end() || !found->is_string()) {
        return InvalidArgument(
            StrCat("messages[", i, "] has a part without a text, want {type, text}"));
      }
      StrAppend(text, StrCat(&part == &content->front() ? "" : "\n",
                             found->get_ref<const std::string&>()));
    }
    *content = std::move(text);
  }
  return OkStatus();
}

bool HasItems(const nlohmann::ordered_json& list) { return list.is_array() && !list.empty(); }

// A template that has no place for them would say nothing of them to the model.
Status CheckUse(const char* name, const nlohmann::ordered_json& list, const ChatTemplate& chosen) {
  if (!HasItems(list) || chosen.source().find(name) != std::string_view::npos) return OkStatus();
  return Unsupported(
      StrCat("the request has ", name,
             ", which the checkpoint's chat template does not know: leave them out"));
}

}  // namespace

Status ChatFormat::UseTemplates(const nlohmann::json& value, const std::string& file) {
  const auto parse = [&](const std::string& source, std::optional<ChatTemplate>& to) {
    marks_reasoning_ = marks_reasoning_ || source.find("</think>") != std::string::npos;
    marks_tool_calls_ = marks_tool_calls_ || source.find("<tool_call>") != std::string::npos;
    Result<ChatTemplate> parsed = ChatTemplate::Parse(source);
    if (parsed.ok()) {
      to = std::move(parsed).value();
    } else if (status_.ok()) {
      status_ = {parsed.status().code(), StrCat(file, ": ", parsed.status().message())};
    }
  };
  if (value.is_string()) {
    parse(value.get_ref<const std::string&>(), default_);
    source_ = file;
    return OkStatus();
  }
  constexpr const char* kMust = "chat_template must be a text or a list of {name, template}";
  if (!value.is_array()) return InvalidArgument(StrCat(file, ": ", kMust));
  for (const nlohmann::json& entry : value) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string() ||
        !entry.contains("template") || !entry["template"].is_string()) {
      return InvalidArgument(StrCat(file, ": ", kMust));
    }
    const bool is_default = entry["name"] == "default";
    if (!is_default && entry["name"] != "tool_use") continue;
    parse(entry["template"].get_ref<const std::string&>(), is_default ? default_ : tool_use_);
    if (is_default) source_ = file;
  }
  return OkStatus();
}

Result<ChatFormat> ChatFormat::Load(const std::string& dir) {
  ChatFormat out;
  nlohmann::json config = nlohmann::json::object();
  const std::string config_path = dir + "/tokenizer_config.json";
  if (Exists(config_path)) {
    GDN_ASSIGN_OR_RETURN(config, ReadJsonFile(config_path));
    if (!config.is_object()) return InvalidArgument(config_path + ": must be an object");
  }
  for (const char* name : kSpecialTokens) {
    const auto value = config.find(name);
    if (value == config.end()) continue;
    if (const std::string* text = TokenText(*value)) out.special_tokens_[name] = *text;
  }
  if (const auto eos = out.special_tokens_.find("eos_token"); eos != out.special_tokens_.end()) {
    out.eos_token_ = eos->get<std::string>();
  }
  const std::string template_path = dir + "/chat_template.jinja";
  if (Exists(template_path)) {
    GDN_ASSIGN_OR_RETURN(std::string source, ReadFile(template_path, kMaxTemplateBytes));
    GDN_RETURN_IF_ERROR(out.UseTemplates(nlohmann::json(std::move(source)), template_path));
  } else if (const auto value = config.find("chat_template");
             value != config.end() && !value->is_null()) {
    GDN_RETURN_IF_ERROR(out.UseTemplates(*value, config_path));
  }
  return out;
}

Result<ChatPrompt> ChatFormat::BuildPrompt(const ChatRequest& request) const {
  if (!status_.ok()) return status_;
  const std::optional<ChatTemplate>& chosen =
      HasItems(request.tools) && tool_use_.has_value() ? tool_use_ : default_;
  if (!chosen.has_value()) {
    return Unsupported(
        "the checkpoint has no chat template, want chat_template.jinja or a chat_template in "
        "tokenizer_config.json");
  }
  GDN_RETURN_IF_ERROR(CheckParts(request.messages));
  GDN_RETURN_IF_ERROR(CheckUse("tools", request.tools, *chosen));
  GDN_RETURN_IF_ERROR(CheckUse("documents", request.documents, *chosen));
  PromptRequest prompt{.messages = request.messages,
                       .tools = request.tools,
                       .documents = request.documents,
                       .variables = special_tokens_,
                       .add_generation_prompt = !request.continue_final_message};
  if (request.variables.is_object()) {
    if (request.variables.size() > kMaxVariables) {
      return InvalidArgument(StrCat(request.variables.size(),
                                    " variables of the chat template, want at most ",
                                    kMaxVariables));
    }
    for (const auto& [name, value] : request.variables.items()) prompt.variables[name] = value;
  } else if (!request.variables.is_null()) {
    return InvalidArgument("the variables of the chat template must be an object");
  }
  if (!LoopsOverContent(chosen->source())) GDN_RETURN_IF_ERROR(JoinParts(prompt.messages));
  if (request.continue_final_message) prompt.continue_final_message = "content";
  ChatPrompt out;
  GDN_ASSIGN_OR_RETURN(out.text, gdn::BuildPrompt(*chosen, prompt));
  if (marks_reasoning_) {
    const bool goes_on = request.continue_final_message && !prompt.messages.empty();
    out.reasoning =
        ReasoningStartAfter(out.text, goes_on ? ContinuedText(prompt.messages.back()) : "");
  }
  return out;
}

}  // namespace gdn
