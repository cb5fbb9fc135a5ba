// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <ctime>
#include <string>
#include <vector>

#include "tokenizer/regex_translate.h"
#include "tokenizer/test_tokenizer_json.h"
#include "tokenizer/unicode_tables.h"
#include "tokenizer/utf8.h"

namespace gdn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Matches(const Regex& regex, const std::string& text) {
  MatchScratch scratch(text.size());
  std::vector<std::string> found;
  const Status status = regex.FindAll(text, scratch, [&](size_t begin, size_t end) {
    found.push_back(text.substr(begin, end - begin));
  });
  EXPECT_TRUE(status.ok()) << status.message();
  return found;
}

std::vector<std::string> Matches(const std::string& pattern, const std::string& text) {
  auto regex = Regex::Compile(pattern);
  EXPECT_TRUE(regex.ok()) << regex.status().message();
  return regex.ok() ? Matches(*regex, text) : std::vector<std::string>();
}

TEST(Regex, Qwen35JoinsMarksAndSplitsDigits) {
  EXPECT_THAT(Matches(kQwen35Pattern, "e\u0301a 2026"),
              ElementsAre("e\u0301a", " ", "2", "0", "2", "6"));
  // Hindi and Thai words with vowel signs stay whole. Report: surogate 105.
  EXPECT_THAT(Matches(kQwen35Pattern, "\u0939\u093F\u0928\u094D\u0926\u0940 \u0E17\u0E35\u0E48"),
              ElementsAre("\u0939\u093F\u0928\u094D\u0926\u0940", " \u0E17\u0E35\u0E48"));
  EXPECT_THAT(Matches(kQwen35Pattern, "a->b"), ElementsAre("a", "->", "b"));
  EXPECT_THAT(Matches(kQwen35Pattern, "(x):\n y"), ElementsAre("(x", "):\n", " y"));
  EXPECT_THAT(Matches(kQwen35Pattern, "I'LL don't  go\r\n\r\n  "),
              ElementsAre("I", "'LL", " don", "'t", " ", " go", "\r\n\r\n", "  "));
}

TEST(Regex, Qwen3DoesNotJoinMarks) {
  EXPECT_THAT(Matches(kQwen3Pattern, "e\u0301a"), ElementsAre("e", "\u0301a"));
  EXPECT_THAT(Matches(kQwen3Pattern, "\u0939\u093F\u0928\u094D"),
              ElementsAre("\u0939", "\u093F\u0928", "\u094D"));
}

TEST(Regex, WhiteSpaceIsTheUnicodeProperty) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c == 0xD800) c = 0xE000;
    if (c == 0x3100) c = 0x1F000;  // nothing but letters and symbols in between
    if (c == 0x1F100) break;
    std::string text;
    AppendUtf8(c, text);
    const size_t is_space = IsWhiteSpace(c) ? 1 : 0;
    static const Regex space = *Regex::Compile(R"(\s)");
    static const Regex in_class = *Regex::Compile(R"([\s])");
    static const Regex not_space = *Regex::Compile(R"(\S)");
    static const Regex not_in_class = *Regex::Compile(R"([\S])");
    ASSERT_EQ(Matches(space, text).size(), is_space) << static_cast<uint32_t>(c);
    ASSERT_EQ(Matches(in_class, text).size(), is_space);
    ASSERT_EQ(Matches(not_space, text).size(), 1 - is_space);
    ASSERT_EQ(Matches(not_in_class, text).size(), 1 - is_space);
  }
}

TEST(Regex, KnowsLettersLaterThanTheLibrarys) {
  EXPECT_THAT(Matches(R"(\p{L}+)", "a\u1C89\U00031350"), ElementsAre("a\u1C89\U00031350"));
  EXPECT_THAT(Matches(R"([^\p{L}\p{M}])", "\u1C89\u0897!"), ElementsAre("!"));
  EXPECT_THAT(Matches(R"(\P{L})", "\u1C89 "), ElementsAre(" "));
  EXPECT_THAT(Matches(R"(\p{^N}+)", "a\U0001E5F1b"), ElementsAre("a", "b"));
}

TEST(Regex, CaseInsensitiveGroupsFoldTheLongS) {
  EXPECT_THAT(Matches("(?i:'s)", "'s'S'\u017F"), ElementsAre("'s", "'S", "'\u017F"));
}

TEST(Regex, EmptyMatchesDoNotFollowAMatch) {
  EXPECT_THAT(Matches(R"(\d*)", "1a\u00E922"), ElementsAre("1", "", "22"));
  EXPECT_THAT(Matches("x*", ""), ElementsAre(""));
}

TEST(Regex, FindsAMatchFarAway) {
  const std::string gap(100000, '-');
  EXPECT_THAT(Matches("x", gap + "x" + gap + "x"), ElementsAre("x", "x"));
  const auto literal = Regex::CompileLiteral("a.b");
  ASSERT_TRUE(literal.ok());
  EXPECT_THAT(Matches(*literal, "aXb" + gap + "\u00E9a.b"), ElementsAre("a.b"));
}

TEST(Regex, RefusesWhatTheEnginesReadDifferently) {
  for (const std::string pattern : {R"(\w)",
                                    R"(\b)",
                                    R"(\h)",
                                    R"(\K)",
                                    R"(\C)",
                                    R"(\1)",
                                    R"(\x41)",
                                    R"(\)",
                                    R"(\p{Lx)",
                                    R"(\pL)",
                                    R"(\p{Any-1})",
                                    "(?R)",
                                    "(?C1)",
                                    "(?<n>a)",
                                    "(?m)",
                                    "(?#x)",
                                    "(*LIMIT_MATCH=9)a",
                                    "(*NO_JIT)a",
                                    "[a[bc]]",
                                    "[a&&b]",
                                    "[]a]",
                                    "[a-\\s]",
                                    "[\\s-a]",
                                    "[\\P{L}]",
                                    "[abc",
                                    "a{,3}",
                                    "a{2}+",
                                    "a{x}",
                                    "{"}) {
    const auto translated = TranslateRegex(pattern);
    EXPECT_FALSE(translated.ok()) << pattern << " became " << *translated;
    if (!translated.ok()) {
      EXPECT_EQ(translated.status().code(), StatusCode::kUnsupported);
    }
    EXPECT_FALSE(Regex::Compile(pattern).ok());
  }
}

TEST(Regex, RefusesWhatDoesNotCompile) {
  for (const std::string pattern :
       {"(", ")", "a**b", "[z-a]", R"(\p{Nope})", R"(\p{Xy})", "(?<=a*)b", "a{99999}",
        "((((a{1000}){1000}){1000}){1000})", "\xFF"}) {
    EXPECT_FALSE(Regex::Compile(pattern).ok()) << pattern;
  }
  EXPECT_FALSE(Regex::Compile(std::string(100000, 'a')).ok());
  EXPECT_FALSE(Regex::Compile(std::string(100000, '(')).ok());
  EXPECT_FALSE(Regex::Compile(std::string(5000, '(') + std::string(5000, ')')).ok());
}

TEST(Regex, LongRunsAreLinear) {
  const auto regex = Regex::Compile(kQwen35Pattern);
  ASSERT_TRUE(regex.ok());
  for (const std::string unit :
       {" ", "a", "\n", "=", "\u3000", "1", "'", "e\u0301", "\xEF\xBF\xBD"}) {
    std::string text;
    while (text.size() < 1000000) text += unit;
    MatchScratch scratch(text.size());
    size_t covered = 0;
    const std::clock_t start = std::clock();
    const Status status =
        regex->FindAll(text, scratch, [&](size_t begin, size_t end) { covered += end - begin; });
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(covered, text.size());
    EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC) << unit;
  }
}

TEST(Regex, AHostilePatternGivesUp) {
  // A class at the end: a letter that the text lacks would be seen before the match starts.
  for (const std::string pattern : {"(a+)+[bc]", "a*a*a*a*[bc]", "(?=(a*)*[bc])a"}) {
    const auto regex = Regex::Compile(pattern);
    ASSERT_TRUE(regex.ok()) << pattern;
    const std::string text(3000, 'a');
    MatchScratch scratch(0);
    const std::clock_t start = std::clock();
    const Status status = regex->FindAll(text, scratch, [](size_t, size_t) {});
    ASSERT_FALSE(status.ok()) << pattern;
    EXPECT_THAT(status.message(), HasSubstr("gave up on a text of 3000 bytes"));
    EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC) << pattern;
  }
}

}  // namespace
}  // namespace gdn
