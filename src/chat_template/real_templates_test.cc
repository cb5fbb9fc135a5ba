// SPDX-License-Identifier: Apache-2.0
// Templates of real checkpoints, with every conversation, against what transformers makes of them
// (written by tools/chat_templates/make_expectations.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "chat_template/prompt.h"
#include "chat_template/prompt_testing.h"
#include "io/json_file.h"
#include "io/read_file.h"

namespace gdn {
namespace {

const std::string kFolder = GDN_SOURCE_DIR "/tests/data/chat_templates";

nlohmann::ordered_json ReadRows(const std::string& path) {
  const auto text = ReadFile(path, size_t{1} << 24);
  EXPECT_TRUE(text.ok()) << text.status().message();
  if (!text.ok()) return {};
  const auto rows = ParseOrderedJson(*text, path);
  EXPECT_TRUE(rows.ok()) << rows.status().message();
  return rows.ok() ? *rows : nlohmann::ordered_json();
}

std::vector<std::string> TemplateNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder + "/templates")) {
    if (entry.path().extension() == ".jinja") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class RealTemplate : public testing::TestWithParam<std::string> {};

TEST_P(RealTemplate, PromptsEqualTheReferences) {
  const auto source = ReadFile(kFolder + "/templates/" + GetParam() + ".jinja", 1 << 20);
  ASSERT_TRUE(source.ok()) << source.status().message();
  const auto chat_template = ChatTemplate::Parse(*source);
  ASSERT_TRUE(chat_template.ok()) << chat_template.status().message();
  const nlohmann::ordered_json conversations = ReadRows(kFolder + "/conversations.json");
  const nlohmann::ordered_json expected = ReadRows(kFolder + "/expected/" + GetParam() + ".json");
  ASSERT_EQ(conversations.size(), expected.size());
  for (size_t i = 0; i < conversations.size(); ++i) {
    SCOPED_TRACE(conversations[i].at("name"));
    const auto got = BuildPrompt(*chat_template, RequestOf(conversations[i]), AtTestTime());
    if (expected[i].is_string()) {
      EXPECT_TRUE(got.ok()) << got.status().message();
      if (got.ok()) {
        EXPECT_EQ(*got, expected[i].get<std::string>());
      }
    } else {
      EXPECT_FALSE(got.ok()) << *got;
      if (got.ok() || !expected[i].contains("error")) continue;
      auto message = expected[i].at("error").get<std::string>();
      std::replace(message.begin(), message.end(), '\n', ' ');
      EXPECT_TRUE(got.status().message().ends_with(": " + message)) << got.status().message();
    }
  }
}

std::string TestName(const testing::TestParamInfo<std::string>& parameter) {
  std::string name = parameter.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, RealTemplate, testing::ValuesIn(TemplateNames()), TestName);

TEST(RealTemplates, AreThere) { EXPECT_EQ(TemplateNames().size(), 19U); }

}  // namespace
}  // namespace gdn
