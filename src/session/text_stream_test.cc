// SPDX-License-Identifier: Apache-2.0
#include "session/text_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gdn {
namespace {

const std::string kTiny = std::string(GDN_SOURCE_DIR) + "/models/tiny";

class TextStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<Tokenizer> loaded = Tokenizer::Load(kTiny);
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    tokenizer_.emplace(std::move(loaded).value());
  }
  std::vector<int32_t> Ids(std::string_view text) const { return *tokenizer_->Encode(text); }

  std::optional<Tokenizer> tokenizer_;
};

// Report: llama.cpp 4446.
TEST_F(TextStreamTest, EmitsACharacterOfFourTokensWhole) {
  const std::vector<int32_t> ids = Ids("\U0001F600");
  ASSERT_EQ(ids.size(), 4U);
  TextStream stream(*tokenizer_, {}, ReasoningStart::kNever);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(stream.Append(ids[i]).text, "");
  EXPECT_EQ(stream.Append(ids[3]).text, "\U0001F600");
  EXPECT_EQ(stream.Flush().text, "");
}

TEST_F(TextStreamTest, FlushesACutCharacter) {
  const std::vector<int32_t> ids = Ids("\U0001F600");
  TextStream stream(*tokenizer_, {}, ReasoningStart::kNever);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(stream.Append(ids[i]).text, "");
  EXPECT_EQ(stream.Flush().text, "\uFFFD");
}

// Report: aprender 2019.
TEST_F(TextStreamTest, CutsAStopStringThatComesInTwoTokens) {
  TextStream stream(*tokenizer_, {"END"}, ReasoningStart::kNever);
  std::string text;
  for (const std::string_view word : {"so ", "E", "ND", " more"}) {
    for (const int32_t id : Ids(word)) text += stream.Append(id).text;
  }
  EXPECT_TRUE(stream.stopped());
  EXPECT_EQ(text + stream.Flush().text, "so ");
}

TEST_F(TextStreamTest, StopsAfterTheFewestTokens) {
  const std::vector<int32_t> ids = Ids(" the the the the");
  ASSERT_EQ(ids.size(), 4U);
  for (const int64_t min_tokens : {0, 1, 2, 3}) {
    TextStream stream(*tokenizer_, {"the"}, ReasoningStart::kNever, min_tokens);
    int64_t count = 0;
    for (; count < static_cast<int64_t>(ids.size()) && !stream.stopped(); ++count) {
      (void)stream.Append(ids[static_cast<size_t>(count)]);
    }
    EXPECT_TRUE(stream.stopped());
    EXPECT_EQ(count, min_tokens + 1);
  }
}

TEST_F(TextStreamTest, KeepsWhatOnlyBeginsLikeAStopString) {
  TextStream stream(*tokenizer_, {"END"}, ReasoningStart::kNever);
  std::string text;
  for (const int32_t id : Ids("an E")) text += stream.Append(id).text;
  EXPECT_EQ(text, "an ");
  EXPECT_EQ(stream.Flush().text, "E");
}

TEST_F(TextStreamTest, SplitsReasoningAndStopsInside) {
  TextStream stream(*tokenizer_, {"halt"}, ReasoningStart::kMarked);
  std::string reasoning;
  std::string text;
  for (const int32_t id : Ids("<think>one</think>two halt")) {
    const ReasoningSplitter::Parts parts = stream.Append(id);
    reasoning += parts.reasoning;
    text += parts.text;
  }
  EXPECT_EQ(reasoning, "one");
  EXPECT_EQ(text + stream.Flush().text, "two ");
}

}  // namespace
}  // namespace gdn
