// SPDX-License-Identifier: Apache-2.0
#include "server/answer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>

#include "base/str.h"
#include "io/json_text.h"
#include "tokenizer/utf8.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinity: a token that cannot come has this.
constexpr double kLeastLogProb = -9999;

// To what stands between the brackets of a list.
void AppendItem(std::string& list, std::string_view item) {
  if (!list.empty()) list += ',';
  list += item;
}

// With another member, whose value is text already. object has members.
void AppendMember(std::string& object, const char* name, std::string_view value) {
  object.pop_back();
  object += StrCat(",\"", name, "\":", value, "}");
}

std::string TextOf(std::string_view bytes) {
  std::string out;
  AppendLossyUtf8(bytes, out);
  return out;
}

Json FinishJson(const Choice& choice) {
  switch (choice.finish) {
    case FinishReason::kNone:
      return nullptr;
    case FinishReason::kStop:
      if (!choice.tool_calls.empty() || choice.num_earlier_calls > 0) return "tool_calls";
      return "stop";
    case FinishReason::kLength:
      return "length";
    default:
      return "abort";
  }
}

Json AlternativeJson(const std::string& bytes, double log_prob) {
  Json numbers = Json::array();
  for (const char c : bytes) numbers.push_back(static_cast<unsigned char>(c));
  return {{"token", TextOf(bytes)}, {"logprob", log_prob}, {"bytes", std::move(numbers)}};
}

// As text, token by token: a tree of all alternatives would be most of an answer's memory.
std::string ChatLogProbs(const Choice& choice) {
  if (!choice.has_log_probs) return "null";
  std::string content;
  for (const TokenLogProb& token : choice.log_probs) {
    Json top = Json::array();
    for (const auto& [bytes, log_prob] : token.top) top.push_back(AlternativeJson(bytes, log_prob));
    Json entry = AlternativeJson(token.bytes, token.log_prob);
    entry["top_logprobs"] = std::move(top);
    AppendItem(content, DumpJson(entry));
  }
  return StrCat(R"({"content":[)", content, R"(],"refusal":null})");
}

std::string CompletionLogProbs(const Choice& choice) {
  if (!choice.has_log_probs) return "null";
  std::string tokens;
  std::string log_probs;
  std::string tops;
  std::string offsets;
  int64_t offset = choice.text_offset;
  for (const TokenLogProb& token : choice.log_probs) {
    const std::string text = TextOf(token.bytes);
    Json top = Json::object();
    // Tokens that are parts of characters may look the same: the likeliest stays.
    for (const auto& [bytes, log_prob] : token.top) top.emplace(TextOf(bytes), log_prob);
    top.emplace(text, token.log_prob);
    AppendItem(tokens, DumpJson(text));
    AppendItem(log_probs, DumpJson(token.log_prob));
    AppendItem(tops, DumpJson(top));
    AppendItem(offsets, DumpJson(offset));
    offset += NumCharacters(token.bytes);
  }
  return StrCat(R"({"tokens":[)", tokens, R"(],"token_logprobs":[)", log_probs,
                R"(],"top_logprobs":[)", tops, R"(],"text_offset":[)", offsets, "]}");
}

Json UsageJson(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}}};
}

Json HeadJson(const AnswerHead& head, bool is_part) {
  const char* object = "text_completion";
  if (head.is_chat) object = is_part ? "chat.completion.chunk" : "chat.completion";
  return {{"id", head.id}, {"object", object}, {"created", head.created}, {"model", head.model}};
}

Json ToolCallsJson(const Choice& choice, bool is_part) {
  Json out = Json::array();
  int64_t index = choice.num_earlier_calls;
  for (const ToolCall& call : choice.tool_calls) {
    Json entry = Json::object();
    if (is_part) entry["index"] = index++;
    entry["id"] = NewId("call_");
    entry["type"] = "function";
    entry["function"] = {{"name", call.name}, {"arguments", call.arguments}};
    out.push_back(std::move(entry));
  }
  return out;
}

// What a chat's choice says: a message, or what a part adds to it.
Json MessageJson(const Choice& choice, bool is_part) {
  Json out = Json::object();
  if (!is_part) out["role"] = "assistant";
  const bool has_calls = !choice.tool_calls.empty();
  const bool is_bare =
      choice.reasoning.empty() && !has_calls && choice.finish == FinishReason::kNone;
  if (!is_part && has_calls && choice.text.empty()) {
    out["content"] = nullptr;
  } else if (!is_part || is_bare || !choice.text.empty()) {
    out["content"] = choice.text;
  }
  if (!choice.reasoning.empty()) out["reasoning_content"] = choice.reasoning;
  if (has_calls) out["tool_calls"] = ToolCallsJson(choice, is_part);
  return out;
}

std::string ChoiceText(const AnswerHead& head, const Choice& choice, bool is_part) {
  Json out = {{"index", choice.index}};
  if (head.is_chat) {
    out[is_part ? "delta" : "message"] = MessageJson(choice, is_part);
  } else {
    out["text"] = choice.text;
  }
  out["finish_reason"] = FinishJson(choice);
  std::string text = DumpJson(out);
  AppendMember(text, "logprobs", head.is_chat ? ChatLogProbs(choice) : CompletionLogProbs(choice));
  return text;
}

// choices: what stands between their brackets.
std::string PartEvent(const AnswerHead& head, std::string_view choices) {
  std::string part = DumpJson(HeadJson(head, /*is_part=*/true));
  AppendMember(part, "choices", StrCat("[", choices, "]"));
  return Event(part);
}

}  // namespace

std::string NewId(std::string_view prefix) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string out(prefix);
  for (int word = 0; word < 3; ++word) {
    uint32_t bits = random();
    for (int digit = 0; digit < 8; ++digit, bits >>= 4) out += kDigits[bits & 15];
  }
  return out;
}

int64_t NumCharacters(std::string_view bytes) {
  return std::ranges::count_if(bytes, [](char c) { return (c & 0xC0) != 0x80; });
}

TokenLogProb LogProbOf(const Chunk& chunk, const Tokenizer& tokenizer) {
  const auto bytes_of = [&tokenizer](int32_t token) {
    std::string bytes;
    tokenizer.AppendTokenBytes(token, /*skip_special=*/false, bytes);
    return bytes;
  };
  TokenLogProb out{.bytes = bytes_of(chunk.token),
                   .log_prob = std::max(chunk.log_prob.value_or(kLeastLogProb), kLeastLogProb)};
  for (const TokenLogit& top : chunk.top_logits) {
    if (top.token < 0) continue;
    const double log_prob = top.logit - chunk.log_sum_exp.value_or(0);
    out.top.emplace_back(bytes_of(top.token), std::max(log_prob, kLeastLogProb));
  }
  return out;
}

std::string AnswerJson(const AnswerHead& head, std::span<const Choice> choices,
                       const Usage& usage) {
  std::string list;
  for (const Choice& choice : choices) {
    AppendItem(list, ChoiceText(head, choice, /*is_part=*/false));
  }
  std::string out = DumpJson(HeadJson(head, /*is_part=*/false));
  AppendMember(out, "choices", StrCat("[", list, "]"));
  AppendMember(out, "usage", DumpJson(UsageJson(usage)));
  return out;
}

std::string Event(std::string_view json) { return StrCat("data: ", json, "\n\n"); }

std::string FirstEvent(const AnswerHead& head, int64_t index) {
  if (!head.is_chat) return {};
  const Json choice = {{"index", index},
                       {"delta", {{"role", "assistant"}, {"content", ""}}},
                       {"logprobs", nullptr},
                       {"finish_reason", nullptr}};
  return PartEvent(head, DumpJson(choice));
}

std::string ChoiceEvent(const AnswerHead& head, const Choice& choice) {
  return PartEvent(head, ChoiceText(head, choice, /*is_part=*/true));
}

std::string UsageEvent(const AnswerHead& head, const Usage& usage) {
  Json part = HeadJson(head, /*is_part=*/true);
  part["choices"] = Json::array();
  part["usage"] = UsageJson(usage);
  return Event(DumpJson(part));
}

}  // namespace gdn
