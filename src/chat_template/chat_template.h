// SPDX-License-Identifier: Apache-2.0
// A checkpoint's chat template: the Jinja program that makes the prompt of a conversation. Parsed
// once, rendered often; the result is what apply_chat_template() of transformers makes of the same
// input. What of Jinja is there is in the README of this folder.
#pragma once

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace gdn {

struct RenderOptions {
  // What strftime_now() sees; none: the local time of the call.
  std::optional<std::tm> now;
};

class ChatTemplate {
 public:
  // Templates come from strangers. Errors: kInvalidArgument where the source is not a template or
  // exceeds a limit, kUnsupported where it uses a construct that is not here; the message is one
  // line, "chat template, line 3: ...".
  static Result<ChatTemplate> Parse(std::string_view source);

  // context: an object whose members are the variables of the template (messages, tools,
  // add_generation_prompt, bos_token, ...), in the order that a loop over them shall see. It comes
  // from strangers too: time and memory are bounded whatever template and context are. Safe from
  // several threads.
  // Errors: kInvalidArgument or kUnsupported, one line as above; the message of raise_exception()
  // stands behind the line, with control characters as spaces.
  Result<std::string> Render(const nlohmann::ordered_json& context,
                             const RenderOptions& options = {}) const;

  // As it was given.
  const std::string& source() const;

 private:
  struct Program;
  explicit ChatTemplate(std::shared_ptr<const Program> program);

  std::shared_ptr<const Program> program_;
};

}  // namespace gdn
