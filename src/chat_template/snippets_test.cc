// SPDX-License-Identifier: Apache-2.0
// The language: small templates against what jinja2 makes of them in the environment of
// transformers (written by tools/chat_templates/make_expectations.py).
#include <gtest/gtest.h>

#include <string>

#include "chat_template/chat_template.h"
#include "chat_template/prompt_testing.h"
#include "io/json_file.h"
#include "io/read_file.h"

namespace gdn {
namespace {

constexpr int kSnippets = 968;

Result<std::string> RenderSnippet(const std::string& source,
                                  const nlohmann::ordered_json& context) {
  GDN_ASSIGN_OR_RETURN(const ChatTemplate chat_template, ChatTemplate::Parse(source));
  return chat_template.Render(context, AtTestTime());
}

TEST(Snippets, EqualTheReferences) {
  const auto text = ReadFile(GDN_SOURCE_DIR "/tests/data/chat_templates/snippets.json", 1 << 24);
  ASSERT_TRUE(text.ok()) << text.status().message();
  const auto rows = ParseOrderedJson(*text, "snippets.json");
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  const nlohmann::ordered_json& context = rows->at(0);
  for (size_t i = 1; i < rows->size(); ++i) {
    const auto source = rows->at(i).at(0).get<std::string>();
    const nlohmann::ordered_json& want = rows->at(i).at(1);
    const auto got = RenderSnippet(source, context);
    if (want.is_string()) {
      EXPECT_TRUE(got.ok()) << source << "\n" << got.status().message();
      if (got.ok()) {
        EXPECT_EQ(*got, want.get<std::string>()) << source;
      }
      continue;
    }
    EXPECT_FALSE(got.ok()) << source << "\n" << *got;
    if (got.ok()) continue;
    const std::string message = got.status().message();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.rfind("chat template, line ", 0), 0U) << source << "\n" << message;
    if (want.contains("error")) {
      EXPECT_TRUE(message.ends_with(": " + want.at("error").get<std::string>())) << message;
    }
  }
  EXPECT_EQ(rows->size() - 1, kSnippets);
}

}  // namespace
}  // namespace gdn
