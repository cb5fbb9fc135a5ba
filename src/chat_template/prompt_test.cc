// SPDX-License-Identifier: Apache-2.0
#include "chat_template/prompt.h"

#include <gtest/gtest.h>

namespace gdn {
namespace {

using nlohmann::ordered_json;

ChatTemplate Parsed(const char* source) {
  auto parsed = ChatTemplate::Parse(source);
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return *std::move(parsed);
}

std::string ErrorOf(const char* source, const PromptRequest& request) {
  const auto prompt = BuildPrompt(Parsed(source), request);
  EXPECT_FALSE(prompt.ok());
  return prompt.ok() ? "" : prompt.status().message();
}

PromptRequest RequestOf(const char* messages) {
  PromptRequest request;
  request.messages = ordered_json::parse(messages);
  return request;
}

TEST(Prompt, TemplateSeesWhatTransformersShowsIt) {
  PromptRequest request = RequestOf(R"([{"role": "user", "content": "a", "tool_calls": null}])");
  request.variables = {{"bos_token", "<s>"}, {"enable_thinking", false}};
  request.add_generation_prompt = true;
  EXPECT_EQ(
      *BuildPrompt(Parsed("{{ messages }}{{ tools }}{{ documents }}{{ add_generation_prompt }}"
                          "{{ bos_token }}{{ enable_thinking }}"),
                   request),
      "[{'role': 'user', 'content': 'a'}]NoneNoneTrue<s>False");
}

TEST(Prompt, ReasoningHasTheNamesThatTemplatesRead) {
  const auto seen = [](const char* message) {
    return *BuildPrompt(Parsed("{{ messages[0]|tojson }}"), RequestOf(message));
  };
  EXPECT_EQ(seen(R"([{"role": "a", "thinking": "t", "x": 1}])"),
            R"({"thinking": "t", "role": "a", "x": 1, "reasoning_content": "t"})");
  EXPECT_EQ(seen(R"([{"reasoning": "r", "reasoning_content": null}])"),
            R"({"thinking": "r", "reasoning": "r", "reasoning_content": "r"})");
  EXPECT_EQ(seen(R"([{"reasoning_content": "c", "thinking": "t"}])"),
            R"({"thinking": "t", "reasoning_content": "c"})");
  EXPECT_EQ(seen(R"([{"role": "a"}])"), R"({"role": "a"})");
}

TEST(Prompt, ContinuesTheLastMessage) {
  PromptRequest request = RequestOf(R"([{"content": "a"}, {"content": "to be "}])");
  request.continue_final_message = "content";
  EXPECT_EQ(*BuildPrompt(Parsed("{% for m in messages %}<{{ m.content }}>{% endfor %}"), request),
            "<a><to be ");
  EXPECT_EQ(
      *BuildPrompt(Parsed("{% for m in messages %}<{{ m.content|trim }}>{% endfor %}"), request),
      "<a><to be");
  EXPECT_EQ(ErrorOf("content", request),
            "the chat template leaves out parts of the last message, so that it cannot be "
            "continued");
  EXPECT_EQ(ErrorOf("{{ messages }}", request),
            "the chat template does not read \"content\", so that it cannot be continued");
  request.add_generation_prompt = true;
  EXPECT_EQ(ErrorOf("x", request),
            "a prompt either continues the last message or starts a new one");
}

TEST(Prompt, RequestsMustBeWellFormed) {
  EXPECT_EQ(ErrorOf("x", RequestOf("[]")), "messages must be a list of at least one message");
  EXPECT_EQ(ErrorOf("x", RequestOf("{}")), "messages must be a list of at least one message");
  EXPECT_EQ(ErrorOf("x", RequestOf("[1]")), "messages[0] is not an object");
  PromptRequest request = RequestOf("[{}]");
  request.tools = {1};
  EXPECT_EQ(ErrorOf("x", request), "tools[0] is not an object");
  request.tools = "a";
  EXPECT_EQ(ErrorOf("x", request), "tools is not a list");
  request.tools = nullptr;
  request.variables = {{"tools", 1}};
  EXPECT_EQ(ErrorOf("x", request), "the variable \"tools\" has a place of its own");
  request.variables = 1;
  EXPECT_EQ(ErrorOf("x", request), "variables is not an object");
  request.variables = nullptr;
  request.continue_final_message = "content";
  EXPECT_EQ(ErrorOf("content", request), "the last message has no \"content\" to continue");
  request.messages = ordered_json::parse(R"([{"content": [{"type": "image"}]}])");
  EXPECT_EQ(ErrorOf("content", request), "the last message has no text in \"content\" to continue");
  request.messages = ordered_json::parse(R"([{"content": 5}])");
  EXPECT_EQ(ErrorOf("content", request),
            "\"content\" of the last message is neither text nor list");
}

}  // namespace
}  // namespace gdn
