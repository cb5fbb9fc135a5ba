// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tokenizer/test_tokenizer_json.h"
#include "tokenizer/utf8_assembler.h"

namespace gdn {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Ids = std::vector<int32_t>;

Tokenizer Make(const json& file) {
  auto tokenizer = Tokenizer::Parse(file.dump(), "tokenizer.json");
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  return std::move(tokenizer).value();
}

Ids Encode(const Tokenizer& tokenizer, std::string_view text, bool parse_special = true) {
  const auto ids = tokenizer.Encode(text, {.parse_special = parse_special});
  EXPECT_TRUE(ids.ok()) << ids.status().message();
  return ids.ok() ? *ids : Ids();
}

json WithMerges() { return TokenizerJsonOf({{"a", "b"}, {" ", "a"}, {" ", "ab"}, {"1", "2"}}); }

json WithAddedTokens() {
  json file = WithMerges();
  file["added_tokens"] = {AddedTokenJson(300, "<|im_start|>"), AddedTokenJson(301, "<|im_end|>"),
                          AddedTokenJson(302, "<think>", /*special=*/false)};
  return file;
}

TEST(Tokenizer, EncodesBytesMergesAndAddedTokens) {
  const Tokenizer tokenizer = Make(WithAddedTokens());
  EXPECT_EQ(tokenizer.vocab_size(), 303);
  EXPECT_THAT(Encode(tokenizer, "ab ab 12"), ElementsAre(256, 258, ' ', '1', '2'));
  EXPECT_THAT(Encode(tokenizer, "<|im_start|>ab<|im_end|>\n<think>"),
              ElementsAre(300, 256, 301, '\n', 302));
  EXPECT_THAT(Encode(tokenizer, ""), IsEmpty());
  EXPECT_EQ(tokenizer.TokenToId("\u0120ab"), 258);
  EXPECT_EQ(tokenizer.TokenToId("<think>"), 302);
  EXPECT_EQ(tokenizer.TokenToId("nope"), std::nullopt);
  EXPECT_TRUE(tokenizer.IsSpecial(300));
  EXPECT_FALSE(tokenizer.IsSpecial(302));
  EXPECT_FALSE(tokenizer.IsSpecial(-1));
  EXPECT_FALSE(tokenizer.IsSpecial(1 << 30));
}

// Quadratic in the run of spaces, this would take hours.
TEST(Tokenizer, ARunOfSpacesIsReadOnceByATokenThatTakesThem) {
  json file = WithAddedTokens();
  file["added_tokens"].push_back(AddedTokenJson(303, " "));
  file["added_tokens"].back()["rstrip"] = true;
  const std::string spaces(2'000'000, ' ');
  EXPECT_THAT(Encode(Make(file), "a" + spaces).size(), testing::Gt(1U));
}

TEST(Tokenizer, PlainTextNeverBecomesAnAddedToken) {
  const Tokenizer tokenizer = Make(WithAddedTokens());
  for (const std::string text : {"<|im_end|>", "<think>", "a<|im_start|>b"}) {
    const Ids ids = Encode(tokenizer, text, /*parse_special=*/false);
    for (const int32_t id : ids) EXPECT_LT(id, 300);
    EXPECT_EQ(tokenizer.Decode(ids, false), text);
  }
}

TEST(Tokenizer, DecodeSkipsSpecialTokensAndUnknownIds) {
  const Tokenizer tokenizer = Make(WithAddedTokens());
  const Ids ids = {300, 256, 302, 301, -5, 290, 303, 1 << 30};
  EXPECT_EQ(tokenizer.Decode(ids, false), "<|im_start|>ab<think><|im_end|>");
  EXPECT_EQ(tokenizer.Decode(ids, true), "ab<think>");
}

TEST(Tokenizer, AnEmojiOfFourTokensStreamsWhole) {
  const Tokenizer tokenizer = Make(WithMerges());
  const Ids ids = Encode(tokenizer, "\U0001F600");
  ASSERT_THAT(ids, ElementsAre(0xF0, 0x9F, 0x98, 0x80));
  Utf8Assembler assembler;
  for (size_t i = 0; i < ids.size(); ++i) {
    std::string bytes;
    tokenizer.AppendTokenBytes(ids[i], false, bytes);
    EXPECT_EQ(assembler.Append(bytes), i == 3 ? "\U0001F600" : "");
  }
  const Ids cut(ids.begin(), ids.begin() + 3);
  EXPECT_EQ(tokenizer.Decode(cut, false), "\uFFFD");
}

TEST(Tokenizer, NormalisesBeforeSplitting) {
  json file = WithMerges();
  EXPECT_EQ(Encode(Make(file), "e\u0301"), (Ids{0xC3, 0xA9}));
  file["normalizer"] = nullptr;
  EXPECT_EQ(Encode(Make(file), "e\u0301"), (Ids{'e', 0xCC, 0x81}));
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}}}};
  EXPECT_EQ(Encode(Make(file), "e\u0301"), (Ids{0xC3, 0xA9}));
}

TEST(Tokenizer, FollowsTheFlagsOfAddedTokens) {
  json file = WithMerges();
  json& added = file["added_tokens"];
  added = {AddedTokenJson(300, "[L]"),  AddedTokenJson(301, "[R]"),
           AddedTokenJson(302, "word"), AddedTokenJson(303, "caf\u00E9"),
           AddedTokenJson(304, "[L]["), AddedTokenJson(305, "na\u00EFve")};
  added[0]["lstrip"] = true;
  added[1]["rstrip"] = true;
  added[2]["single_word"] = true;
  added[3]["normalized"] = true;
  const Tokenizer tokenizer = Make(file);
  EXPECT_THAT(Encode(tokenizer, "a \u3000\n[L] a"), ElementsAre('a', 300, 257));
  EXPECT_THAT(Encode(tokenizer, "a [R] \u3000\na"), ElementsAre('a', ' ', 301, 'a'));
  EXPECT_THAT(Encode(tokenizer, "[R] [L]"), ElementsAre(301, 300));
  EXPECT_THAT(Encode(tokenizer, "word.word"), ElementsAre(302, '.', 302));
  EXPECT_THAT(Encode(tokenizer, "xword"), ElementsAre('x', 'w', 'o', 'r', 'd'));
  EXPECT_THAT(Encode(tokenizer, "word_"), ElementsAre('w', 'o', 'r', 'd', '_'));
  EXPECT_THAT(Encode(tokenizer, "cafe\u0301"), ElementsAre(303));
  EXPECT_THAT(Encode(tokenizer, "nai\u0308ve"), ElementsAre('n', 'a', 0xC3, 0xAF, 'v', 'e'));
  EXPECT_THAT(Encode(tokenizer, "[L][L]"), ElementsAre(304, 'L', ']'));  // the longest wins
}

TEST(Tokenizer, SplitBehaviours) {
  // Merges join what stands in one piece.
  const auto pieces = [](const char* behavior, bool invert) {
    json file = TokenizerJsonOf({{"1", "-"}, {"-", "2"}, {"-", "-"}, {"1-", "-"}});
    file["pre_tokenizer"] = SequenceJson({SplitJson("-", behavior, invert), ByteLevelJson()});
    return Encode(Make(file), "1-2--");
  };
  constexpr int kOneDash = 256;
  constexpr int kDashTwo = 257;
  constexpr int kDashDash = 258;
  EXPECT_THAT(pieces("Isolated", false), ElementsAre('1', '-', '2', '-', '-'));
  EXPECT_THAT(pieces("Removed", false), ElementsAre('1', '2'));
  EXPECT_THAT(pieces("Removed", true), ElementsAre('-', '-', '-'));
  EXPECT_THAT(pieces("MergedWithPrevious", false), ElementsAre(kOneDash, '2', '-', '-'));
  EXPECT_THAT(pieces("MergedWithNext", false), ElementsAre('1', kDashTwo, '-', '-'));
  EXPECT_THAT(pieces("Contiguous", false), ElementsAre('1', '-', '2', kDashDash));
}

TEST(Tokenizer, ByteLevelAloneUsesTheGpt2Pattern) {
  json file = WithMerges();
  file["pre_tokenizer"] = ByteLevelJson(/*add_prefix_space=*/false, /*use_regex=*/true);
  EXPECT_THAT(Encode(Make(file), "ab ab12"), ElementsAre(256, 258, 259));
  file["pre_tokenizer"] = ByteLevelJson(/*add_prefix_space=*/true, /*use_regex=*/true);
  EXPECT_THAT(Encode(Make(file), "ab ab12"), ElementsAre(258, 258, 259));
  EXPECT_THAT(Encode(Make(file), ""), IsEmpty());
  file["pre_tokenizer"] = ByteLevelJson();
  EXPECT_THAT(Encode(Make(file), "1 ab"), ElementsAre('1', 258));
}

TEST(Tokenizer, TemplateSurroundsEveryText) {
  json file = WithAddedTokens();
  file["post_processor"] = {{"type", "Sequence"},
                            {"processors",
                             {ByteLevelJson(),
                              {{"type", "TemplateProcessing"},
                               {"single",
                                {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                                 {{"Sequence", {{"id", "A"}, {"type_id", 0}}}},
                                 {{"SpecialToken", {{"id", "</s>"}, {"type_id", 0}}}}}},
                               {"special_tokens",
                                {{"<s>", {{"id", "<s>"}, {"ids", {300}}}},
                                 {"</s>", {{"id", "</s>"}, {"ids", {301}}}}}}}}}};
  const Tokenizer tokenizer = Make(file);
  EXPECT_THAT(Encode(tokenizer, "ab"), ElementsAre(300, 256, 301));
  EXPECT_THAT(Encode(tokenizer, ""), ElementsAre(300, 301));
  const auto bare = tokenizer.Encode("ab", {.surround = false});
  ASSERT_TRUE(bare.ok());
  EXPECT_THAT(*bare, ElementsAre(256));
}

TEST(Tokenizer, RefusesTextThatIsNotUtf8) {
  const Tokenizer tokenizer = Make(WithMerges());
  const auto ids = tokenizer.Encode("abc\xE2\x82");
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ids.status().message(), "text is not valid UTF-8 at byte 3");
}

TEST(Tokenizer, ServesManyThreads) {
  const Tokenizer tokenizer = Make(WithAddedTokens());
  std::string text;
  for (int i = 0; i < 200; ++i) text += "ab caf\u00E9 <think>12 e\u0301 \n";
  const Ids want = Encode(tokenizer, text);
  std::vector<Ids> got(4);
  {
    std::vector<std::jthread> threads;
    for (auto& ids : got) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) ids = *tokenizer.Encode(text);
      });
    }
  }
  for (const Ids& ids : got) EXPECT_EQ(ids, want);
}

TEST(Tokenizer, LoadsAFolder) {
  const std::string dir = testing::TempDir() + "gdn_tokenizer_test";
  std::filesystem::create_directories(dir);
  std::ofstream(dir + "/tokenizer.json") << WithMerges().dump();
  EXPECT_TRUE(Tokenizer::Load(dir).ok());
  std::filesystem::remove_all(dir);
  const auto missing = Tokenizer::Load(dir);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(missing.status().message(), dir + "/tokenizer.json: cannot be opened: no such file");
}

}  // namespace
}  // namespace gdn
