// SPDX-License-Identifier: Apache-2.0
#include "server/answer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gdn {
namespace {

using Json = nlohmann::json;

const AnswerHead kChat = {.is_chat = true, .id = "chatcmpl-1", .created = 5, .model = "m"};
const AnswerHead kText = {.id = "cmpl-1", .created = 5, .model = "m"};

Json EventJson(const std::string& event) {
  EXPECT_TRUE(event.starts_with("data: ") && event.ends_with("\n\n")) << event;
  return Json::parse(event.substr(6));
}

TEST(Answer, OfAChat) {
  const Choice choice{.text = "hi", .reasoning = "hm", .finish = FinishReason::kStop};
  const Json json = Json::parse(AnswerJson(
      kChat, {{choice}}, {.prompt_tokens = 7, .completion_tokens = 2, .cached_tokens = 4}));
  EXPECT_EQ(json["object"], "chat.completion");
  EXPECT_EQ(json["created"], 5);
  EXPECT_EQ(json["choices"][0]["message"],
            Json({{"role", "assistant"}, {"content", "hi"}, {"reasoning_content", "hm"}}));
  EXPECT_EQ(json["choices"][0]["finish_reason"], "stop");
  EXPECT_TRUE(json["choices"][0]["logprobs"].is_null());
  EXPECT_EQ(json["usage"], Json({{"prompt_tokens", 7},
                                 {"completion_tokens", 2},
                                 {"total_tokens", 9},
                                 {"prompt_tokens_details", {{"cached_tokens", 4}}}}));
}

TEST(Answer, PartsOfAChat) {
  const Json first = EventJson(FirstEvent(kChat, 2));
  EXPECT_EQ(first["object"], "chat.completion.chunk");
  EXPECT_EQ(first["choices"][0]["index"], 2);
  EXPECT_EQ(first["choices"][0]["delta"]["role"], "assistant");
  const Json part = EventJson(ChoiceEvent(kChat, {.text = "a\n\n"}));
  EXPECT_EQ(part["choices"][0]["delta"], Json({{"content", "a\n\n"}}));
  EXPECT_TRUE(part["choices"][0]["finish_reason"].is_null());
  const Json bare = EventJson(ChoiceEvent(kChat, {}));
  EXPECT_EQ(bare["choices"][0]["delta"], Json::parse(R"({"content": ""})"));
  const Json last = EventJson(ChoiceEvent(kChat, {.finish = FinishReason::kLength}));
  EXPECT_EQ(last["choices"][0]["delta"], Json::object());
  EXPECT_EQ(last["choices"][0]["finish_reason"], "length");
  const Json usage = EventJson(UsageEvent(kChat, {.prompt_tokens = 1}));
  EXPECT_EQ(usage["choices"], Json::array());
  EXPECT_EQ(usage["usage"]["prompt_tokens"], 1);
}

TEST(Answer, CallsOfTools) {
  Choice choice{.tool_calls = {{"f", R"({"a":1})"}, {"g", "{}"}}, .finish = FinishReason::kStop};
  const Json whole = Json::parse(AnswerJson(kChat, {{choice}}, {}))["choices"][0];
  EXPECT_EQ(whole["finish_reason"], "tool_calls");
  EXPECT_TRUE(whole["message"]["content"].is_null());
  const Json& calls = whole["message"]["tool_calls"];
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0]["type"], "function");
  EXPECT_EQ(calls[0]["function"], Json({{"name", "f"}, {"arguments", R"({"a":1})"}}));
  EXPECT_NE(calls[0]["id"], calls[1]["id"]);
  choice.num_earlier_calls = 3;
  choice.text = "and";
  const Json part = EventJson(ChoiceEvent(kChat, choice))["choices"][0];
  EXPECT_EQ(part["delta"]["tool_calls"][1]["index"], 4);
  EXPECT_EQ(part["delta"]["content"], "and");
  const Json last = EventJson(
      ChoiceEvent(kChat, {.num_earlier_calls = 1, .finish = FinishReason::kStop}))["choices"][0];
  EXPECT_EQ(last["finish_reason"], "tool_calls");
  EXPECT_EQ(last["delta"], Json::object());
  EXPECT_EQ(EventJson(ChoiceEvent(
                kChat, {.num_earlier_calls = 1,
                        .finish = FinishReason::kLength}))["choices"][0]["finish_reason"],
            "length");
}

TEST(Answer, PartsOfACompletion) {
  EXPECT_EQ(FirstEvent(kText, 0), "");
  const Json part = EventJson(ChoiceEvent(kText, {.index = 1, .text = "a"}));
  EXPECT_EQ(part["object"], "text_completion");
  EXPECT_EQ(part["choices"][0]["text"], "a");
  EXPECT_EQ(part["choices"][0]["index"], 1);
}

TEST(Answer, LogProbsOfAChat) {
  const Choice choice{.has_log_probs = true,
                      .log_probs = {{.bytes = "\xC3", .log_prob = -1.5, .top = {{"a", -0.5}}}}};
  const Json entry =
      Json::parse(AnswerJson(kChat, {{choice}}, {}))["choices"][0]["logprobs"]["content"][0];
  EXPECT_EQ(entry["token"], "\uFFFD");
  EXPECT_EQ(entry["bytes"], Json({0xC3}));
  EXPECT_EQ(entry["logprob"], -1.5);
  EXPECT_EQ(entry["top_logprobs"], Json({{{"token", "a"}, {"logprob", -0.5}, {"bytes", {97}}}}));
}

TEST(Answer, LogProbsOfACompletion) {
  const Choice choice{.has_log_probs = true,
                      .log_probs = {{.bytes = "\xC3\xA4x", .log_prob = -1},
                                    {.bytes = "b", .log_prob = -2, .top = {{"c", -0.25}}}},
                      .text_offset = 10};
  const Json log_probs = Json::parse(AnswerJson(kText, {{choice}}, {}))["choices"][0]["logprobs"];
  EXPECT_EQ(log_probs["tokens"], Json({"\u00E4x", "b"}));
  EXPECT_EQ(log_probs["token_logprobs"], Json({-1.0, -2.0}));
  EXPECT_EQ(log_probs["text_offset"], Json({10, 12}));
  EXPECT_EQ(log_probs["top_logprobs"][1], Json({{"b", -2.0}, {"c", -0.25}}));
}

TEST(Answer, IdsDiffer) {
  const std::string id = NewId("chatcmpl-");
  EXPECT_TRUE(id.starts_with("chatcmpl-"));
  EXPECT_EQ(id.size(), 9U + 24U);
  EXPECT_NE(id, NewId("chatcmpl-"));
  EXPECT_TRUE(NewId("cmpl-").starts_with("cmpl-"));
}

}  // namespace
}  // namespace gdn
