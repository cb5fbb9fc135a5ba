// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace gdn {
namespace {

TEST(StrCat, JoinsTextAndNumbers) {
  const std::string text = "c";
  EXPECT_EQ(StrCat(), "");
  EXPECT_EQ(StrCat("a", std::string_view("b"), text, 'd', true, false), "abcdtruefalse");
  EXPECT_EQ(StrCat(-1, " ", 2U, " ", std::numeric_limits<int64_t>::min()),
            "-1 2 -9223372036854775808");
  EXPECT_EQ(StrCat(std::numeric_limits<uint64_t>::max()), "18446744073709551615");
}

TEST(StrCat, FloatsAreTheShortestThatReadBack) {
  EXPECT_EQ(StrCat(0.1F, " ", 0.1, " ", -2.0), "0.1 0.1 -2");
  EXPECT_EQ(StrCat(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(StrCat(-std::numeric_limits<double>::max()), "-1.7976931348623157e+308");
}

TEST(Quoted, LeavesPlainTextAlone) { EXPECT_EQ(Quoted("a b~"), "\"a b~\""); }

TEST(Quoted, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(Quoted("\x1b[2J\n"), "\"\\x1b[2J\\x0a\"");
  EXPECT_EQ(Quoted("\"\\"), "\"\\\"\\\\\"");
  EXPECT_EQ(Quoted("\xC3\xA9\x7F"), "\"\\xc3\\xa9\\x7f\"");
  EXPECT_EQ(Quoted(std::string_view("\0", 1)), "\"\\x00\"");
}

TEST(Quoted, CutsLongText) {
  EXPECT_EQ(Quoted("abcdef", 3), "\"abc...\"");
  EXPECT_EQ(Quoted("abc", 3), "\"abc\"");
  EXPECT_EQ(Quoted(std::string(1000, 'x')).size(), 80 + 5);
}

TEST(HumanBytes, PicksTheUnit) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.00 KiB");
  EXPECT_EQ(HumanBytes(1536), "1.50 KiB");
  EXPECT_EQ(HumanBytes(3ULL << 30), "3.00 GiB");
  EXPECT_EQ(HumanBytes(std::numeric_limits<uint64_t>::max()), "16777216.00 TiB");
}

}  // namespace
}  // namespace gdn
