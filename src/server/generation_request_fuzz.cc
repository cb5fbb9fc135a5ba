// SPDX-License-Identifier: Apache-2.0
// Input: the body of a request, tried as each kind.
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/check.h"
#include "server/generation_request.h"

namespace {

void CheckError(const std::optional<gdn::ApiError>& error) {
  if (!error.has_value()) return;
  GDN_CHECK(error->status == 400);
  GDN_CHECK(!error->message.empty());
  GDN_CHECK(gdn::ErrorJson(*error).starts_with("{\"error\":"));
}

void CheckParams(const gdn::GenerationParams& params, const gdn::RequestRules& rules) {
  GDN_CHECK(params.num_completions >= 1 && params.num_completions <= rules.max_completions);
  GDN_CHECK(params.num_top_logits >= 0 && params.num_top_logits <= gdn::kMaxAlternatives);
  GDN_CHECK(gdn::ValidateSamplingParams(params.sampling).ok());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const gdn::RequestRules rules{.max_bytes = size_t{1} << 20};
  gdn::GenerationRequest chat;
  auto error = gdn::ParseChatCompletion(body, rules, chat);
  CheckError(error);
  if (!error.has_value()) {
    CheckParams(chat.params, rules);
    GDN_CHECK(chat.chat.messages.is_array() && !chat.chat.messages.empty());
  }
  gdn::GenerationRequest completion;
  error = gdn::ParseCompletion(body, rules, completion);
  CheckError(error);
  if (!error.has_value()) {
    CheckParams(completion.params, rules);
    GDN_CHECK(!completion.prompts.empty());
  }
  gdn::TokenizeRequest tokenize;
  CheckError(gdn::ParseTokenize(body, rules, tokenize));
  gdn::DetokenizeRequest detokenize;
  CheckError(gdn::ParseDetokenize(body, rules, detokenize));
  return 0;
}
