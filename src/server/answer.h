// SPDX-License-Identifier: Apache-2.0
// Answers to requests for text, as clients of OpenAI's interface read them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "session/generation.h"
#include "session/tool_call.h"
#include "tokenizer/tokenizer.h"

namespace gdn {

// What every part of one answer says.
struct AnswerHead {
  bool is_chat = false;
  std::string id;       // "chatcmpl-..."
  int64_t created = 0;  // seconds since 1970
  std::string model;
};

// The prefix and 24 random hex digits.
std::string NewId(std::string_view prefix);

// The bytes of a token need not be whole characters.
struct TokenLogProb {
  std::string bytes;
  double log_prob = 0;
  std::vector<std::pair<std::string, double>> top;
};
// Those that begin in bytes, which need not be whole characters.
int64_t NumCharacters(std::string_view bytes);
// Of a chunk that has a token and its log probability.
TokenLogProb LogProbOf(const Chunk& chunk, const Tokenizer& tokenizer);

// One choice of an answer, or a part of one in a stream.
struct Choice {
  int64_t index = 0;
  std::string text;
  std::string reasoning;
  std::vector<ToolCall> tool_calls;
  int64_t num_earlier_calls = 0;  // of tools, in parts of the stream before this one
  bool has_log_probs = false;     // were asked for
  std::vector<TokenLogProb> log_probs;
  int64_t text_offset = 0;  // characters of the tokens before log_probs
  FinishReason finish = FinishReason::kNone;
};

struct Usage {
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompt, not computed
};

// The whole answer.
std::string AnswerJson(const AnswerHead& head, std::span<const Choice> choices, const Usage& usage);

// Parts of a stream, each an event of SSE with the blank line at its end.
// The first of a choice: of a chat it says who speaks.
std::string FirstEvent(const AnswerHead& head, int64_t index);
std::string ChoiceEvent(const AnswerHead& head, const Choice& choice);
std::string UsageEvent(const AnswerHead& head, const Usage& usage);
std::string Event(std::string_view json);
inline constexpr std::string_view kLastEvent = "data: [DONE]\n\n";

}  // namespace gdn
