// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/nfc.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include "base/rng.h"
#include "tokenizer/unicode_tables.h"
#include "tokenizer/utf8.h"

namespace gdn {
namespace {

std::string OfLibrary(const std::string& text) {
  utf8proc_uint8_t* out = nullptr;
  const auto length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &out,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string result(reinterpret_cast<const char*>(out), static_cast<size_t>(length));
  std::free(out);
  return result;
}

TEST(Nfc, ComposesAndOrders) {
  EXPECT_EQ(ToNfc("e\u0301"), "\u00E9");
  EXPECT_EQ(ToNfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(ToNfc("\u212B"), "\u00C5");
  EXPECT_EQ(ToNfc("\u1112\u1161\u11AB"), "\uD55C");
  EXPECT_EQ(ToNfc("\u0958"), "\u0915\u093C");  // excluded from composition
  EXPECT_EQ(ToNfc("\u0E01\u0E33"), "\u0E01\u0E33");
  EXPECT_EQ(ToNfc(std::string_view("a\0b", 3)), std::string_view("a\0b", 3));
}

TEST(Nfc, MarksLaterThanTheReferencesTablesAreLeftAlone) {
  EXPECT_EQ(ToNfc("q\u0301\u0898\u0316"), "q\u0301\u0898\u0316");
  EXPECT_EQ(ToNfc("\U00011935\U00011930"), "\U00011935\U00011930");
}

TEST(Nfc, EqualsTheLibraryOnRandomText) {
  constexpr std::u32string_view kAlphabet =
      U"aeEnq\u0300\u0301\u0308\u0316\u0323\u0327\u0345\u00E9\u1E9B\u0915\u093C\u0438\u0306\u1100"
      U"\u1161\u11A8\uAC00\u304B\u3099\u09C7\u09BE\u2126\u0F71\u0F72\u0F74\u05D0\u05B8";
  Rng rng(2);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (uint64_t n = rng.NextBelow(12); n > 0; --n) {
      AppendUtf8(kAlphabet[rng.NextBelow(kAlphabet.size())], text);
    }
    ASSERT_EQ(ToNfc(text), OfLibrary(text)) << text;
    if (!MayChangeInNfc(text)) {
      ASSERT_EQ(ToNfc(text), text) << text;
    }
  }
}

TEST(Nfc, EachCodePointIsSeenByTheQuickCheck) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c == 0xD800) c = 0xE000;
    std::string text;
    AppendUtf8(c, text);
    if (!MayChangeInNfc(text)) {
      ASSERT_EQ(ToNfc(text), text) << static_cast<uint32_t>(c);
    }
  }
  EXPECT_FALSE(MayChangeInNfc("caf\u00E9 \u041F\u0440\u0438\u0432\u0435\u0442 \u4F60\uD55C"));
  EXPECT_TRUE(MayChangeInNfc("e\u0301"));
  EXPECT_TRUE(MayChangeInNfc("\uAC00\u11A8"));
}

TEST(Nfc, ALongRunOfMarksInTheWrongOrderIsNotQuadratic) {
  std::string text = "e";
  for (int i = 0; i < 250000; ++i) text += "\u0301\u0316";
  const std::clock_t start = std::clock();
  const std::string composed = ToNfc(text);
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
  EXPECT_EQ(composed.size(), text.size() - 1);  // one mark composes with the letter
}

}  // namespace
}  // namespace gdn
