// SPDX-License-Identifier: Apache-2.0
#include "session/chat_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/temp_folder.h"
#include "session/sampling_defaults.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

const std::string kTiny = std::string(GDN_SOURCE_DIR) + "/models/tiny";
const std::string kTemplates = std::string(GDN_SOURCE_DIR) + "/tests/data/chat_templates/templates";

ChatRequest Saying(const std::string& text) {
  return {.messages = Json::array({{{"role", "user"}, {"content", text}}})};
}

TEST(ChatFormat, RendersTheTemplateOfTheTokenizersConfig) {
  const Result<ChatFormat> format = ChatFormat::Load(kTiny);
  ASSERT_TRUE(format.ok()) << format.status().message();
  EXPECT_EQ(format->eos_token(), "<|im_end|>");
  const Result<ChatPrompt> prompt = format->BuildPrompt(Saying("hello"));
  ASSERT_TRUE(prompt.ok()) << prompt.status().message();
  EXPECT_EQ(prompt->text, "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(prompt->reasoning, ReasoningStart::kNever);  // its template knows of none
}

TEST(ChatFormat, ContinuesTheAssistantsMessage) {
  const Result<ChatFormat> format = ChatFormat::Load(kTiny);
  ASSERT_TRUE(format.ok());
  ChatRequest request = Saying("hello");
  request.messages.push_back({{"role", "assistant"}, {"content", "And he"}});
  request.continue_final_message = true;
  const Result<ChatPrompt> prompt = format->BuildPrompt(request);
  ASSERT_TRUE(prompt.ok()) << prompt.status().message();
  EXPECT_EQ(prompt->text, "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\nAnd he");
}

// As vLLM does for templates that read text alone.
TEST(ChatFormat, PartsAreLinesOfTheTextWhereTheTemplateKnowsNoParts) {
  const Result<ChatFormat> format = ChatFormat::Load(kTiny);
  ASSERT_TRUE(format.ok());
  ChatRequest request = Saying("");
  request.messages[0]["content"] =
      Json::parse(R"([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])");
  EXPECT_EQ(format->BuildPrompt(request)->text, format->BuildPrompt(Saying("one\ntwo"))->text);
  request.messages[0]["content"][1].erase("text");
  EXPECT_THAT(format->BuildPrompt(request).status().message(),
              HasSubstr("messages[0] has a part without a text"));
}

TEST(ChatFormat, PartsStayWhereTheTemplateGoesThroughThem) {
  TempFolder folder;
  folder.Write("chat_template.jinja",
               "{%- for m in messages %}{%- for part in m.content %}[{{ part.text }}]{% endfor %}"
               "{% endfor %}");
  const Result<ChatFormat> format = ChatFormat::Load(folder.path());
  ASSERT_TRUE(format.ok()) << format.status().message();
  ChatRequest request = Saying("");
  request.messages[0]["content"] =
      Json::parse(R"([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])");
  EXPECT_EQ(format->BuildPrompt(request)->text, "[one][two]");
}

TEST(ChatFormat, AFileOfItsOwnComesFirst) {
  TempFolder folder;
  folder.Write("chat_template.jinja", "{{ bos_token }}{{ messages[0].content }}{{ x }}");
  folder.Write("tokenizer_config.json",
               R"({"bos_token": {"content": "<s>"}, "chat_template": "no"})");
  const Result<ChatFormat> format = ChatFormat::Load(folder.path());
  ASSERT_TRUE(format.ok()) << format.status().message();
  ChatRequest request = Saying("hi");
  request.variables = {{"x", 7}};
  EXPECT_EQ(format->BuildPrompt(request)->text, "<s>hi7");
}

TEST(ChatFormat, AListOfTemplatesHasOneForTools) {
  TempFolder folder;
  folder.Write("tokenizer_config.json", R"({"chat_template": [
      {"name": "default", "template": "plain"}, {"name": "tool_use", "template": "tools"},
      {"name": "rag", "template": "{% no such tag %}"}]})");
  const Result<ChatFormat> format = ChatFormat::Load(folder.path());
  ASSERT_TRUE(format.ok()) << format.status().message();
  ChatRequest request = Saying("hi");
  EXPECT_EQ(format->BuildPrompt(request)->text, "plain");
  request.tools = Json::array({{{"type", "function"}}});
  EXPECT_EQ(format->BuildPrompt(request)->text, "tools");
}

TEST(ChatFormat, QwensReplyStartsInsideReasoningUnlessItIsTurnedOff) {
  TempFolder folder;
  std::filesystem::copy_file(kTemplates + "/Qwen3.5.jinja", folder.File("chat_template.jinja"));
  const Result<ChatFormat> format = ChatFormat::Load(folder.path());
  ASSERT_TRUE(format.ok()) << format.status().message();
  ChatRequest request = Saying("hi");
  EXPECT_EQ(format->BuildPrompt(request)->reasoning, ReasoningStart::kInside);
  request.variables = {{"enable_thinking", false}};
  EXPECT_EQ(format->BuildPrompt(request)->reasoning, ReasoningStart::kMarked);
}

TEST(ChatFormat, ABrokenTemplateIsAnErrorOfChatsAlone) {
  TempFolder folder;
  folder.Write("chat_template.jinja", "{% if %}");
  const Result<ChatFormat> format = ChatFormat::Load(folder.path());
  ASSERT_TRUE(format.ok()) << format.status().message();
  const Status status = format->BuildPrompt(Saying("hi")).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("chat_template.jinja: chat template, line 1"));
}

TEST(ChatFormat, NamesWhatIsMissingOrWrong) {
  TempFolder folder;
  const Result<ChatFormat> none = ChatFormat::Load(folder.path());
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->has_template());
  EXPECT_THAT(none->BuildPrompt(Saying("hi")).status().message(), HasSubstr("no chat template"));
  folder.Write("tokenizer_config.json", "[]");
  EXPECT_THAT(ChatFormat::Load(folder.path()).status().message(), HasSubstr("must be an object"));
  folder.Write("tokenizer_config.json", R"({"chat_template": [{"name": "default"}]})");
  EXPECT_THAT(ChatFormat::Load(folder.path()).status().message(),
              HasSubstr("must be a text or a list"));
  const Result<ChatFormat> format = ChatFormat::Load(kTiny);
  ASSERT_TRUE(format.ok());
  ChatRequest request = Saying("hi");
  request.variables = Json::array();
  EXPECT_THAT(format->BuildPrompt(request).status().message(), HasSubstr("must be an object"));
  request = Saying("hi");
  request.messages[0]["content"] = Json::array({{{"type", "image_url"}}});
  EXPECT_EQ(format->BuildPrompt(request).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(format->BuildPrompt(request).status().message(), HasSubstr("image_url"));
  request = Saying("hi");
  request.messages[0]["role"] = "nobody";
  EXPECT_THAT(format->BuildPrompt(request).status().message(), HasSubstr("the roles are"));
}

TEST(SamplingDefaults, AreTheCheckpoints) {
  TempFolder folder;
  EXPECT_EQ(LoadSamplingDefaults(folder.path())->top_k, 40);
  folder.Write("generation_config.json",
               R"({"temperature": 0.6, "top_k": -1, "top_p": 0.9, "repetition_penalty": 1.1})");
  const Result<SamplingDefaults> defaults = LoadSamplingDefaults(folder.path());
  ASSERT_TRUE(defaults.ok()) << defaults.status().message();
  const SamplingParams params = defaults->Params();
  EXPECT_FLOAT_EQ(params.temperature, 0.6F);
  EXPECT_EQ(params.top_k, 0);
  EXPECT_FLOAT_EQ(params.top_p, 0.9F);
  EXPECT_FLOAT_EQ(params.repetition_penalty, 1.1F);
  EXPECT_TRUE(ValidateSamplingParams(params).ok());
  folder.Write("generation_config.json", R"({"top_p": 2})");
  EXPECT_THAT(LoadSamplingDefaults(folder.path()).status().message(), HasSubstr("top_p is 2"));
}

}  // namespace
}  // namespace gdn
