// SPDX-License-Identifier: Apache-2.0
// Input: a template, a line "---", and a context in JSON. Both halves may be anything.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "chat_template/chat_template.h"
#include "chat_template/limits.h"
#include "chat_template/prompt.h"
#include "chat_template/text.h"
#include "io/json_file.h"

namespace {

void CheckStatus(const gdn::Status& status) {
  GDN_CHECK(status.message().find('\n') == std::string::npos);
  GDN_CHECK(!status.message().empty());
}

void CheckResult(const gdn::Result<std::string>& result) {
  if (!result.ok()) return CheckStatus(result.status());
  GDN_CHECK(gdn::jinja::IsValidUtf8(*result));
  GDN_CHECK(result->size() <= gdn::jinja::kMaxOutputBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBoundary = "\n---\n";
  const size_t at = input.find(kBoundary);
  const std::string_view source = input.substr(0, at);
  const std::string_view text =
      at == std::string_view::npos ? "{}" : input.substr(at + kBoundary.size());

  const auto chat_template = gdn::ChatTemplate::Parse(source);
  if (!chat_template.ok()) {
    CheckStatus(chat_template.status());
    return 0;
  }
  const auto context = gdn::ParseOrderedJson(text, "context");
  if (!context.ok()) return 0;
  CheckResult(chat_template->Render(*context));
  if (!context->is_object() || !context->contains("messages")) return 0;
  gdn::PromptRequest request;
  request.messages = context->at("messages");
  if (context->contains("tools")) request.tools = context->at("tools");
  CheckResult(gdn::BuildPrompt(*chat_template, request));
  request.continue_final_message = "content";
  CheckResult(gdn::BuildPrompt(*chat_template, request));
  return 0;
}
