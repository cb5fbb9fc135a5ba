// SPDX-License-Identifier: Apache-2.0
#include "session/tool_call.h"

#include <algorithm>
#include <utility>

#include "base/str.h"
#include "io/json_file.h"
#include "io/json_text.h"
#include "session/partial_match.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOpen = "<tool_call>";
constexpr std::string_view kClose = "</tool_call>";
constexpr std::string_view kFunction = "<function=";
constexpr std::string_view kFunctionEnd = "</function>";
constexpr std::string_view kParameter = "<parameter=";
constexpr std::string_view kParameterEnd = "</parameter>";
constexpr std::string_view kSpace = " \t\r\n";
constexpr size_t kMaxArguments = 256;  // of the second form: ordered objects look through all

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The member of an object, or null.
const Json* Member(const Json* object, std::string_view name) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto it = object->find(name);
  return it == object->end() ? nullptr : &*it;
}

// The schemas of a function's parameters, by name; null where there are none.
const Json* ParametersOf(const Json& tools, std::string_view name) {
  if (!tools.is_array()) return nullptr;
  for (const Json& tool : tools) {
    const Json* inner = Member(&tool, "function");
    const Json* function = inner != nullptr ? inner : &tool;
    const Json* its_name = Member(function, "name");
    if (its_name == nullptr || *its_name != name) continue;
    return Member(Member(function, "parameters"), "properties");
  }
  return nullptr;
}

void AddTypes(const Json* schema, std::vector<std::string>& out) {
  const Json* type = Member(schema, "type");
  if (type == nullptr) return;
  if (type->is_string()) out.push_back(type->get<std::string>());
  if (!type->is_array()) return;
  for (const Json& one : *type) {
    if (one.is_string()) out.push_back(one.get<std::string>());
  }
}

// What a value may be by its schema; nothing: it does not say.
std::vector<std::string> TypesOf(const Json* schema) {
  std::vector<std::string> out;
  AddTypes(schema, out);
  for (const char* choice : {"anyOf", "oneOf"}) {
    const Json* schemas = Member(schema, choice);
    if (schemas == nullptr || !schemas->is_array()) continue;
    for (const Json& one : *schemas) AddTypes(&one, out);
  }
  return out;
}

Json ValueOf(std::string_view text, const Json* schema) {
  const std::vector<std::string> types = TypesOf(schema);
  const auto may_be = [&types](std::string_view type) {
    return std::ranges::find(types, type) != types.end();
  };
  if (text == "null" && may_be("null")) return nullptr;
  if (types.empty() || may_be("string")) return text;
  if (may_be("boolean") && (text == "True" || text == "False")) return text == "True";
  Result<Json> value = ParseOrderedJson(text, "argument");
  if (!value.ok()) return text;
  return std::move(value).value();
}

std::optional<ToolCall> ParseJsonCall(std::string_view text) {
  const Result<Json> call = ParseOrderedJson(text, "tool call");
  if (!call.ok()) return std::nullopt;
  const Json* name = Member(&*call, "name");
  if (name == nullptr || !name->is_string()) return std::nullopt;
  if (name->get_ref<const std::string&>().empty()) return std::nullopt;
  const Json* arguments = Member(&*call, "arguments");
  ToolCall out{.name = name->get<std::string>(), .arguments = "{}"};
  if (arguments == nullptr) return out;
  if (arguments->is_object()) {
    out.arguments = DumpJson(*arguments);
    return out;
  }
  if (!arguments->is_string()) return std::nullopt;
  // Some models write the object as a text.
  out.arguments = arguments->get<std::string>();
  const Result<Json> inner = ParseOrderedJson(out.arguments, "arguments");
  return inner.ok() && inner->is_object() ? std::optional(out) : std::nullopt;
}

// Takes "NAME>" off text; "" where that is not what it begins with.
std::string_view TakeName(std::string_view& text) {
  const size_t end = text.find('>');
  if (end == std::string_view::npos) return {};
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end + 1);
  return name.find_first_of("<\n") == std::string_view::npos ? Trimmed(name) : std::string_view();
}

// The line breaks that the form puts around a value are none of it.
std::string_view WithoutFrame(std::string_view value) {
  if (value.starts_with('\n')) value.remove_prefix(1);
  if (value.ends_with('\n')) value.remove_suffix(1);
  return value;
}

std::optional<ToolCall> ParseTaggedCall(std::string_view text, const Json& tools) {
  text.remove_prefix(kFunction.size());
  text = text.substr(0, text.rfind(kFunctionEnd));
  const std::string_view name = TakeName(text);
  if (name.empty()) return std::nullopt;
  const Json* schemas = ParametersOf(tools, name);
  Json arguments = Json::object();
  for (size_t at = text.find(kParameter); at != std::string_view::npos;
       at = text.find(kParameter)) {
    text.remove_prefix(at + kParameter.size());
    const std::string_view parameter = TakeName(text);
    if (parameter.empty()) return std::nullopt;
    const std::string_view rest = text.substr(0, text.find(kParameter));
    arguments[std::string(parameter)] =
        ValueOf(WithoutFrame(rest.substr(0, rest.find(kParameterEnd))), Member(schemas, parameter));
    text.remove_prefix(rest.size());
    if (arguments.size() > kMaxArguments) return std::nullopt;
  }
  return ToolCall{std::string(name), DumpJson(arguments)};
}

}  // namespace

std::optional<ToolCall> ParseToolCall(std::string_view text, const Json& tools) {
  text = Trimmed(text);
  return text.starts_with(kFunction) ? ParseTaggedCall(text, tools) : ParseJsonCall(text);
}

ToolCallSplitter::Parts ToolCallSplitter::Append(std::string_view piece) {
  Parts out;
  pending_ += piece;
  Advance(out, /*end=*/false);
  return out;
}

ToolCallSplitter::Parts ToolCallSplitter::Flush() {
  Parts out;
  Advance(out, /*end=*/true);
  return out;
}

void ToolCallSplitter::Advance(Parts& out, bool end) {
  while (is_inside_ ? TakeCall(out, end) : TakeText(out, end)) {
  }
}

// True where a call has begun.
bool ToolCallSplitter::TakeText(Parts& out, bool end) {
  if (is_behind_) {
    pending_.erase(0, pending_.find_first_not_of(kSpace));
    if (pending_.empty()) return false;
  }
  const size_t open = pending_.find(kOpen);
  const bool found = open != std::string::npos;
  std::string_view certain = std::string_view(pending_).substr(0, open);
  if (!found && !end) certain.remove_suffix(OpenBytes(certain, kOpen));
  if (found || !end) {  // a call may follow
    certain = certain.substr(0, certain.find_last_not_of(kSpace) + 1);
  }
  if (!certain.empty()) {
    if (is_behind_) out.text += space_;
    is_behind_ = false;
    has_text_ = true;
    out.text += certain;
  }
  if (found) {
    const size_t space = has_text_ && !is_behind_ ? open - certain.size() : 0;
    if (!is_behind_) space_ = pending_.substr(certain.size(), space);
    is_inside_ = true;
    num_searched_ = 0;
  }
  pending_.erase(0, found ? open + kOpen.size() : certain.size());
  return found;
}

// True where the call has ended.
bool ToolCallSplitter::TakeCall(Parts& out, bool end) {
  const size_t close = pending_.find(kClose, num_searched_);
  const bool found = close != std::string::npos;
  if (!found && !end) {
    num_searched_ = pending_.size() - OpenBytes(pending_, kClose);
    return false;
  }
  const std::string_view body = std::string_view(pending_).substr(0, close);
  if (std::optional<ToolCall> call = ParseToolCall(body, *tools_)) {
    out.calls.push_back(std::move(*call));
    is_behind_ = true;
  } else {
    out.text += StrCat(space_, kOpen, body, found ? kClose : "");
    is_behind_ = false;
    has_text_ = true;
  }
  pending_.erase(0, found ? close + kClose.size() : pending_.size());
  is_inside_ = false;
  return found;
}

}  // namespace gdn
