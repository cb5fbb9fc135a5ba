// SPDX-License-Identifier: Apache-2.0
// Answers that call tools, by a copy of models/tiny in which one token is a whole call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "io/temp_folder.h"
#include "server/server_testing.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kChat = "/v1/chat/completions";
// Token 2045 first; then, as the penalty halves it, 1000, which ends the answer.
constexpr const char* kMembers =
    R"("messages": [{"role": "user", "content": "hello"}], "temperature": 0, "ignore_eos": true,
       "max_tokens": 9, "repetition_penalty": 2, "stop_token_ids": [1000],
       "logit_bias": {"2045": 100, "1000": 80})";
constexpr const char* kTools =
    R"("tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}])";

void Replace(const std::filesystem::path& path, std::string_view from, std::string_view to) {
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const size_t at = text.find(from);
  GDN_CHECK(at != std::string::npos);
  text.replace(at, from.size(), to);
  std::ofstream(path) << text;
}

class ServerToolCallsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy(kTinyDir, folder_.path());
    Replace(folder_.File("tokenizer.json"), R"("content": "<|endoftext|>")",
            R"("content": "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>")");
    Replace(folder_.File("tokenizer.json"), R"("special": true)", R"("special": false)");
    Replace(folder_.File("tokenizer_config.json"), R"("chat_template": ")",
            R"("chat_template": "{#- tools: <tool_call> -#})");
    Replace(folder_.File("tokenizer_config.json"), R"("content": "<|endoftext|>")",
            R"("content": "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": 1}}</tool_call>")");
    Replace(folder_.File("tokenizer_config.json"), R"("special": true)", R"("special": false)");
    server_ = StartWithoutModel();
    server_->SetSession(LoadTiny(2, 0, folder_.path()));
  }

  TempFolder folder_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerToolCallsTest, AreMembersOfTheMessage) {
  const TestResponse response =
      Ask(server_->port(), PostText(kChat, StrCat("{", kMembers, ", ", kTools, "}")));
  ASSERT_EQ(response.status, 200) << response.body;
  const Json choice = response.json()["choices"][0];
  EXPECT_EQ(choice["finish_reason"], "tool_calls") << choice;
  EXPECT_TRUE(choice["message"]["content"].is_null());
  ASSERT_EQ(choice["message"]["tool_calls"].size(), 1U);
  EXPECT_EQ(choice["message"]["tool_calls"][0]["function"],
            Json({{"name", "f"}, {"arguments", R"({"a":1})"}}));
}

TEST_F(ServerToolCallsTest, ComeInStreams) {
  const TestResponse response = Ask(
      server_->port(), PostText(kChat, StrCat("{", kMembers, ", ", kTools, ", \"stream\": true}")));
  ASSERT_EQ(response.status, 200) << response.body;
  std::vector<std::string> events = response.events();
  ASSERT_EQ(events.back(), "[DONE]");
  events.pop_back();
  int num_calls = 0;
  for (const std::string& event : events) {
    const Json delta = Json::parse(event)["choices"][0]["delta"];
    if (delta.contains("tool_calls")) ++num_calls;
    EXPECT_EQ(delta.value("content", ""), "");
  }
  EXPECT_EQ(num_calls, 1);
  EXPECT_EQ(Json::parse(events.back())["choices"][0]["finish_reason"], "tool_calls");
}

TEST_F(ServerToolCallsTest, AreOneWhereTheyMayNotBeParallel) {
  const std::string twice = R"("messages": [{"role": "user", "content": "hello"}], "max_tokens": 3,
      "temperature": 0, "ignore_eos": true, "logit_bias": {"2045": 100})";
  const auto count = [&](const char* more) {
    return Ask(server_->port(), PostText(kChat, StrCat("{", twice, ", ", kTools, more, "}")))
        .json()["choices"][0]["message"]["tool_calls"]
        .size();
  };
  EXPECT_EQ(count(""), 3U);
  EXPECT_EQ(count(R"(, "parallel_tool_calls": false)"), 1U);
}

TEST_F(ServerToolCallsTest, AreRefusedByAModelThatKnowsNone) {
  const auto plain = StartServer();
  const TestResponse response =
      Ask(plain->port(), PostText(kChat, StrCat("{", kMembers, ", ", kTools, "}")));
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.error(), HasSubstr("the request has tools"));
}

TEST_F(ServerToolCallsTest, AreTextWhereNoToolMayBeCalled) {
  for (const char* members : {"", R"(, "tool_choice": "none", "tools": [{"type": "function"}])"}) {
    const TestResponse response =
        Ask(server_->port(), PostText(kChat, StrCat("{", kMembers, members, "}")));
    ASSERT_EQ(response.status, 200) << response.body;
    const Json choice = response.json()["choices"][0];
    EXPECT_FALSE(choice["message"].contains("tool_calls"));
    EXPECT_THAT(choice["message"]["content"].get<std::string>(), HasSubstr("<tool_call>"));
    EXPECT_EQ(choice["finish_reason"], "stop");
  }
}

}  // namespace
}  // namespace gdn
