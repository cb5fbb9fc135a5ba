// SPDX-License-Identifier: Apache-2.0
#include "chat_template/chat_template.h"

#include <chrono>
#include <exception>
#include <utility>

#include "base/str.h"
#include "chat_template/convert.h"
#include "chat_template/dict.h"
#include "chat_template/evaluator.h"
#include "chat_template/parser.h"

namespace gdn {

struct ChatTemplate::Program {
  std::string source;
  jinja::Body body;
};

ChatTemplate::ChatTemplate(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

const std::string& ChatTemplate::source() const { return program_->source; }

Result<ChatTemplate> ChatTemplate::Parse(std::string_view source) {
  GDN_ASSIGN_OR_RETURN(jinja::Body body, jinja::ParseTemplate(source));
  return ChatTemplate(
      std::make_shared<const Program>(Program{std::string(source), std::move(body)}));
}

namespace {

void SetClock(const RenderOptions& options, jinja::Runtime& runtime) {
  if (options.now) {
    runtime.now = *options.now;
    return;
  }
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  localtime_r(&seconds, &runtime.now);
  runtime.now_microseconds = static_cast<int>(
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() %
      1'000'000);
}

}  // namespace

Result<std::string> ChatTemplate::Render(const nlohmann::ordered_json& context,
                                         const RenderOptions& options) const {
  if (!context.is_object()) return InvalidArgument("chat template: the context is not an object");
  jinja::Runtime runtime;
  SetClock(options, runtime);
  jinja::DictObject variables;
  for (const auto& [name, json] : context.items()) {
    const auto fail = [](const Status& status) {
      return Status(status.code(), StrCat("chat template: ", status.message()));
    };
    auto key = jinja::FromJson(name, "a name of the context", runtime.budget);
    if (!key.ok()) return fail(key.status());
    auto value = jinja::FromJson(json, Quoted(name), runtime.budget);
    if (!value.ok()) return fail(value.status());
    const Status set = variables.Set(std::move(*key), std::move(*value), runtime.budget);
    if (!set.ok()) return fail(set);
  }
  return jinja::Evaluator(variables, runtime).Render(program_->body);
}

}  // namespace gdn
