// SPDX-License-Identifier: Apache-2.0
#include "session/chat_request_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gdn {
namespace {

using testing::HasSubstr;

TEST(ChatRequestJson, ReadsAListOfMessages) {
  const Result<ChatRequest> request =
      ParseChatRequest(R"([{"role": "user", "content": "hi"}])", "body");
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(request->messages.size(), 1U);
  EXPECT_TRUE(request->tools.is_null());
  EXPECT_FALSE(request->continue_final_message);
}

TEST(ChatRequestJson, ReadsAnObject) {
  const Result<ChatRequest> request = ParseChatRequest(
      R"({"messages": [{"role": "user"}, {"role": "assistant", "content": "So"}],
          "tools": [{"z": 1, "a": 2}], "documents": null,
          "chat_template_kwargs": {"enable_thinking": false}, "continue_final_message": true})",
      "body");
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(request->tools.dump(), R"([{"z":1,"a":2}])");  // in the order of the text
  EXPECT_EQ(request->variables["enable_thinking"], false);
  EXPECT_TRUE(request->continue_final_message);
}

TEST(ChatRequestJson, NamesWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[", "body: "},
      {"3", "body: it is number, must be an array of messages or an object"},
      {"{}", "body: has no messages"},
      {R"({"messages": {}})", "messages is object, must be an array"},
      {"[1]", "messages[0] is number, must be an object"},
      {R"([{"role": "user"}, {"content": ""}])", "messages[1] has no role"},
      {R"([{"role": 7}])", "messages[0].role is number, must be a string"},
      {R"({"messages": [], "tools": {}})", "tools is object, must be an array"},
      {R"({"messages": [], "chat_template_kwargs": []})", "chat_template_kwargs is array"},
      {R"({"messages": [], "continue_final_message": 1})", "must be a boolean"},
      {R"({"messages": [], "continue_final_message": true})", "there is no message"},
      {R"({"messages": [], "tool": []})", "\"tool\" is not known here"},
  };
  for (const auto& [json, want] : cases) {
    const Result<ChatRequest> request = ParseChatRequest(json, "body");
    ASSERT_FALSE(request.ok()) << json;
    EXPECT_EQ(request.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(request.status().message(), HasSubstr(want)) << json;
  }
}

}  // namespace
}  // namespace gdn
