// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/utf8.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "base/rng.h"
#include "tokenizer/utf8_assembler.h"

namespace gdn {
namespace {

std::string Lossy(std::string_view bytes) {
  std::string out;
  AppendLossyUtf8(bytes, out);
  return out;
}

TEST(Utf8, EveryCodePointSurvives) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c == 0xD800) c = 0xE000;
    std::string text;
    AppendUtf8(c, text);
    const Utf8Step step = NextUtf8(text);
    ASSERT_EQ(step.kind, Utf8Kind::kValid) << static_cast<uint32_t>(c);
    ASSERT_EQ(step.code_point, c);
    ASSERT_EQ(static_cast<size_t>(step.length_bytes), text.size());
    for (size_t cut = 1; cut < text.size(); ++cut) {
      ASSERT_EQ(NextUtf8(std::string_view(text).substr(0, cut)).kind, Utf8Kind::kIncomplete)
          << static_cast<uint32_t>(c);
    }
  }
}

TEST(Utf8, LossyReplacesMaximalSubparts) {
  const std::string r(kReplacementCharacter);
  const std::array<std::pair<std::string, std::string>, 11> cases = {{
      {"a\x80z", "a" + r + "z"},
      {"\xC0\xAF", r + r},                  // overlong
      {"\xE0\x9F\xBF", r + r + r},          // overlong
      {"\xED\xA0\x80", r + r + r},          // surrogate
      {"\xF4\x90\x80\x80", r + r + r + r},  // above U+10FFFF
      {"\xF5", r},
      {"\xE2\x82", r},  // cut: one part
      {"\xE2\x82z", r + "z"},
      {"\xF0\x9F\x98\xF0\x9F\x98\x80", r + "\xF0\x9F\x98\x80"},
      {"\xE2\x28\xA1", r + "(" + r},
      {"12345678\xFF"
       "12345678",
       "12345678" + r + "12345678"},
  }};
  for (const auto& [bytes, want] : cases) EXPECT_EQ(Lossy(bytes), want);
}

TEST(Utf8, FindInvalidNamesTheFirstBadByte) {
  EXPECT_EQ(FindInvalidUtf8("plain text of more than eight bytes \xC3\xA9"), std::string::npos);
  EXPECT_EQ(FindInvalidUtf8("0123456789\xC3"), 10U);
  EXPECT_EQ(FindInvalidUtf8("\xC3\xA9\xED\xA0\x80"), 2U);
}

TEST(Utf8Assembler, EmitsNothingBeforeACharacterIsWhole) {
  Utf8Assembler assembler;
  EXPECT_EQ(assembler.Append("\xF0"), "");
  EXPECT_EQ(assembler.Append("\x9F"), "");
  EXPECT_EQ(assembler.Append("\x98"), "");
  EXPECT_TRUE(assembler.holds_bytes());
  EXPECT_EQ(assembler.Append("\x80"), "\xF0\x9F\x98\x80");
  EXPECT_FALSE(assembler.holds_bytes());
  EXPECT_EQ(assembler.Flush(), "");
}

TEST(Utf8Assembler, FlushTurnsACutTailIntoOneReplacement) {
  Utf8Assembler assembler;
  EXPECT_EQ(assembler.Append("a\xF0\x9F\x98"), "a");
  EXPECT_EQ(assembler.Flush(), kReplacementCharacter);
  EXPECT_EQ(assembler.Append("b"), "b");
  EXPECT_EQ(assembler.Flush(), "");
}

TEST(Utf8Assembler, AnySplitEqualsTheWhole) {
  // Leads, continuations and ASCII in a mix that makes whole, cut and wrong sequences.
  constexpr std::string_view kBytes = "az\xC3\xE0\xE2\xED\xF0\xF4\x80\x90\x9F\xA0\xBF\xC0\xFF\xA9";
  Rng rng(1);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes;
    for (uint64_t n = rng.NextBelow(24); n > 0; --n) {
      bytes.push_back(kBytes[rng.NextBelow(kBytes.size())]);
    }
    Utf8Assembler assembler;
    std::string streamed;
    for (size_t at = 0; at < bytes.size();) {
      const size_t length = rng.NextBelow(5);
      const std::string piece = assembler.Append(std::string_view(bytes).substr(at, length));
      ASSERT_EQ(FindInvalidUtf8(piece), std::string::npos);
      streamed += piece;
      at += length;
    }
    streamed += assembler.Flush();
    ASSERT_EQ(streamed, Lossy(bytes));
  }
}

}  // namespace
}  // namespace gdn
