// SPDX-License-Identifier: Apache-2.0
#include "server/generation_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gdn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kHello = R"("messages": [{"role": "user", "content": "hello"}])";

GenerationRequest Chat(const std::string& members) {
  GenerationRequest out;
  const auto error = ParseChatCompletion("{" + members + "}", {}, out);
  EXPECT_FALSE(error.has_value()) << error->message;
  return out;
}

GenerationRequest Completion(const std::string& members) {
  GenerationRequest out;
  const auto error = ParseCompletion("{" + members + "}", {}, out);
  EXPECT_FALSE(error.has_value()) << error->message;
  return out;
}

TEST(GenerationRequest, TakesTheDefaultsOfTheCheckpoint) {
  GenerationRequest out;
  const RequestRules rules{.sampling = {.temperature = 0.7F, .top_k = 20, .top_p = 0.8F}};
  ASSERT_FALSE(
      ParseChatCompletion("{" + std::string(kHello) + R"(, "top_k": 5, "top_p": null})", rules, out)
          .has_value());
  EXPECT_FLOAT_EQ(out.params.sampling.temperature, 0.7F);
  EXPECT_EQ(out.params.sampling.top_k, 5);
  EXPECT_FLOAT_EQ(out.params.sampling.top_p, 0.8F);
  EXPECT_EQ(out.params.num_completions, 1);
  EXPECT_FALSE(out.max_tokens.has_value());
  EXPECT_FALSE(out.seed.has_value());
  EXPECT_FALSE(out.stream);
}

TEST(GenerationRequest, ReadsEveryMember) {
  const GenerationRequest r =
      Chat(std::string(kHello) +
           R"(, "model": "m", "stream": true, "stream_options": {"include_usage": true}, "n": 3,
      "stop": ["a", "b"], "stop_token_ids": [4, 9], "max_completion_tokens": 7, "min_tokens": 2, "temperature": 0, "top_p": 0.5,
      "top_k": -1, "min_p": 0.1, "frequency_penalty": 1, "presence_penalty": -1,
      "repetition_penalty": 1.5, "seed": -2, "logit_bias": {"5": -100, "6": 1.5}, "logprobs": true,
      "top_logprobs": 4, "ignore_eos": true, "user": 5, "metadata": {}, "no such member": 1,
      "chat_template_kwargs": {"enable_thinking": false}, "tools": [{}], "parallel_tool_calls": true)");
  EXPECT_EQ(r.model, "m");
  EXPECT_TRUE(r.is_chat && r.stream && r.include_usage && r.params.log_probs);
  EXPECT_EQ(r.params.num_completions, 3);
  EXPECT_THAT(r.params.stop, ElementsAre("a", "b"));
  EXPECT_THAT(r.params.stop_token_ids, ElementsAre(4, 9));
  EXPECT_EQ(r.max_tokens, 7);
  EXPECT_EQ(r.params.min_new_tokens, 2);
  EXPECT_EQ(r.params.sampling.top_k, 0);
  EXPECT_FLOAT_EQ(r.params.sampling.repetition_penalty, 1.5F);
  EXPECT_EQ(r.seed, static_cast<uint64_t>(-2));
  ASSERT_EQ(r.params.sampling.logit_bias.size(), 2U);
  EXPECT_EQ(r.params.sampling.logit_bias[1].token, 6);
  EXPECT_EQ(r.params.num_top_logits, 4);
  EXPECT_FALSE(r.params.stop_at_eos);
  EXPECT_EQ(r.chat.variables["enable_thinking"], false);
  EXPECT_EQ(r.chat.tools.size(), 1U);
}

TEST(GenerationRequest, ToolsAreLeftOutWhereNoneMayBeCalled) {
  EXPECT_TRUE(
      Chat(std::string(kHello) + R"(, "tools": [{}], "tool_choice": "none")").chat.tools.is_null());
}

TEST(GenerationRequest, ArgumentsOfCallsBecomeObjects) {
  const GenerationRequest r = Chat(
      R"("messages": [{"role": "assistant", "tool_calls":
         [{"function": {"name": "f", "arguments": "{\"a\": 1}"}}]}])");
  EXPECT_EQ(r.chat.messages[0]["tool_calls"][0]["function"]["arguments"]["a"], 1);
}

TEST(GenerationRequest, PromptsHaveFourForms) {
  using Ids = std::vector<int32_t>;
  EXPECT_THAT(Completion(R"("prompt": "a")").prompts, ElementsAre(PromptInput("a")));
  EXPECT_THAT(Completion(R"("prompt": ["a", "b"])").prompts,
              ElementsAre(PromptInput("a"), PromptInput("b")));
  EXPECT_THAT(Completion(R"("prompt": [1, 2.0])").prompts, ElementsAre(PromptInput(Ids{1, 2})));
  EXPECT_THAT(Completion(R"("prompt": [[1], [2]])").prompts,
              ElementsAre(PromptInput(Ids{1}), PromptInput(Ids{2})));
  const GenerationRequest r = Completion(R"("prompt": "a", "logprobs": 0, "stop": "x")");
  EXPECT_TRUE(r.params.log_probs);
  EXPECT_EQ(r.params.num_top_logits, 0);
  EXPECT_THAT(r.params.stop, ElementsAre("x"));
}

struct Wrong {
  const char* members;
  const char* param;
  const char* message;
};

TEST(GenerationRequest, NamesWhatIsWrong) {
  const std::vector<Wrong> cases = {
      {R"("messages": 5)", "messages", "messages is number, must be an array"},
      {R"("messages": [])", "messages", "messages is empty"},
      {R"("stop": "a")", "messages", "messages is missing"},
      {R"("n": 0)", "n", "n is 0, want an integer from 1 to 16"},
      {R"("n": 17)", "n", "n is 17"},
      {R"("n": 1.5)", "n", "n is 1.5"},
      {R"("max_tokens": 0)", "max_tokens", "max_tokens is 0, want an integer from 1 to 2147483647"},
      {R"("max_tokens": 99999999999999999999)", "max_tokens", "max_tokens is"},
      {R"("max_tokens": 2, "min_tokens": 3)", "min_tokens", "min_tokens is 3, want at most"},
      {R"("temperature": "hot")", "temperature", "temperature is \"hot\", want a number"},
      {R"("temperature": -1)", "temperature", "temperature is -1"},
      {R"("temperature": 1e300)", "temperature", "temperature is inf"},
      {R"("top_p": 0)", "top_p", "top_p is 0"},
      {R"("top_k": -2)", "top_k", "top_k is -2"},
      {R"("stop": ["a", 5])", "stop", "stop is 5"},
      {R"("stop": [""])", "stop", "a stop string is empty"},
      {R"("stop_token_ids": 5)", "stop_token_ids", "stop_token_ids is 5, want a list of ids"},
      {R"("stop_token_ids": [-1])", "stop_token_ids", "stop_token_ids"},
      {R"("stream": 1)", "stream", "stream is 1, want true or false"},
      {R"("stream_options": {})", "stream_options", "wants stream true"},
      {R"("stream": true, "stream_options": {"include_usage": 1})", "stream_options",
       "stream_options.include_usage is 1"},
      {R"("logit_bias": {"x": 1})", "logit_bias", "names \"x\""},
      {R"("logit_bias": {"05": 1})", "logit_bias", "names \"05\""},
      {R"("logit_bias": {"1": 200})", "logit_bias", "logit_bias holds 200"},
      {R"("top_logprobs": 2)", "top_logprobs", "wants logprobs true"},
      {R"("logprobs": true, "top_logprobs": 21)", "top_logprobs", "from 0 to 20"},
      {R"("response_format": {"type": "json_object"})", "response_format", "not supported"},
      {R"("tool_choice": "required")", "tool_choice", "tool_choice is \"required\""},
      {R"("reasoning_effort": "low")", "reasoning_effort", "does not support"},
      {R"("guided_json": {})", "guided_json", "does not support"},
      {R"("skip_special_tokens": false)", "skip_special_tokens", "does not support"},
      {R"("add_generation_prompt": false)", "add_generation_prompt", "continue_final_message"},
      {R"("model": 5)", "model", "model is 5, want a string"},
  };
  for (const Wrong& wrong : cases) {
    std::string body = std::string("{") + wrong.members;
    if (std::string(wrong.param) != "messages") body += std::string(", ") + kHello;
    GenerationRequest out;
    const auto error = ParseChatCompletion(body + "}", {}, out);
    ASSERT_TRUE(error.has_value()) << wrong.members;
    EXPECT_EQ(error->status, 400);
    EXPECT_EQ(error->param, wrong.param) << wrong.members;
    EXPECT_THAT(error->message, HasSubstr(wrong.message)) << wrong.members;
  }
}

TEST(GenerationRequest, WhatAsksForNothingIsNoError) {
  Chat(std::string(kHello) +
       R"(, "response_format": {"type": "text"}, "best_of": 1, "echo": false, "functions": [],
       "skip_special_tokens": true, "reasoning_effort": null, "length_penalty": 1.0)");
}

TEST(GenerationRequest, BodiesAreBounded) {
  const auto message = [](const std::string& body) {
    GenerationRequest out;
    const auto error = ParseCompletion(body, {.max_bytes = 1000}, out);
    return error.has_value() ? error->message : "no error";
  };
  EXPECT_THAT(message("["), HasSubstr("is not JSON at byte"));
  EXPECT_THAT(message("[]"), HasSubstr("request is array, want a JSON object"));
  EXPECT_THAT(message(std::string(200, '[')), HasSubstr("nested deeper than 64"));
  EXPECT_THAT(message(std::string(2000, ' ')), HasSubstr("must have at most"));
  EXPECT_THAT(message("{\"prompt\": \"\xFF\"}"), HasSubstr("is not JSON"));
  EXPECT_THAT(message(R"({"prompt": ["a", "b", "c"], "n": 8})"), HasSubstr("at most 16"));
}

TEST(TokenizeRequest, TakesAPromptOrAConversation) {
  TokenizeRequest prompt;
  ASSERT_FALSE(ParseTokenize(R"({"prompt": ""})", {}, prompt).has_value());
  EXPECT_THAT(prompt.input.prompts, ElementsAre(PromptInput("")));
  TokenizeRequest chat;
  ASSERT_FALSE(ParseTokenize("{" + std::string(kHello) + "}", {}, chat).has_value());
  EXPECT_EQ(chat.input.chat.messages.size(), 1U);
  TokenizeRequest none;
  EXPECT_TRUE(ParseTokenize("{}", {}, none).has_value());
  DetokenizeRequest tokens;
  ASSERT_FALSE(ParseDetokenize(R"({"tokens": [1, 2]})", {}, tokens).has_value());
  EXPECT_THAT(tokens.tokens, ElementsAre(1, 2));
  EXPECT_TRUE(ParseDetokenize(R"({"tokens": [-1]})", {}, tokens).has_value());
}

}  // namespace
}  // namespace gdn
