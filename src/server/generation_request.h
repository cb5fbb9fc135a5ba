// SPDX-License-Identifier: Apache-2.0
// Requests for text as clients of OpenAI's interface write them, with the additions of vLLM.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/api_error.h"
#include "session/chat_format.h"
#include "session/generation.h"
#include "session/sampling_defaults.h"

namespace gdn {

// What of a request does not depend on the model.
struct RequestRules {
  SamplingDefaults sampling;     // of what a request does not say
  int64_t max_completions = 16;  // prompts times n
  size_t max_bytes = size_t{8} << 20;
};

// A text, or the ids of its tokens.
using PromptInput = std::variant<std::string, std::vector<int32_t>>;

inline constexpr int64_t kMaxAlternatives = 20;  // of each token, with their probabilities

struct GenerationRequest {
  std::string model;  // "": not said
  // Of a chat completion the conversation, of a completion the prompts, at least one.
  bool is_chat = false;
  ChatRequest chat;
  std::vector<PromptInput> prompts;
  bool add_special_tokens = true;  // around the text of a prompt

  // Without the two that follow.
  GenerationParams params;
  std::optional<int64_t> max_tokens;  // >= 1
  std::optional<uint64_t> seed;

  bool parallel_tool_calls = true;  // else at most one call of a tool is answered
  bool stream = false;
  bool include_usage = false;  // in the stream
};

// A body of POST /v1/chat/completions. Members that would change the answer in a way that is not
// supported are errors; members that nobody knows are not read.
std::optional<ApiError> ParseChatCompletion(std::string_view body, const RequestRules& rules,
                                            GenerationRequest& out);
// A body of POST /v1/completions.
std::optional<ApiError> ParseCompletion(std::string_view body, const RequestRules& rules,
                                        GenerationRequest& out);

// A body of POST /tokenize: a prompt or a conversation. params are not set.
struct TokenizeRequest {
  GenerationRequest input;
  bool return_token_strings = false;
};
std::optional<ApiError> ParseTokenize(std::string_view body, const RequestRules& rules,
                                      TokenizeRequest& out);

// A body of POST /detokenize.
struct DetokenizeRequest {
  std::string model;
  std::vector<int32_t> tokens;
};
std::optional<ApiError> ParseDetokenize(std::string_view body, const RequestRules& rules,
                                        DetokenizeRequest& out);

}  // namespace gdn
