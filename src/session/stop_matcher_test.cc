// SPDX-License-Identifier: Apache-2.0
#include "session/stop_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"

namespace gdn {
namespace {

using testing::HasSubstr;

TEST(StopMatcher, AcrossPieces) {  // aprender 2019
  StopMatcher matcher({"END"});
  EXPECT_EQ(matcher.Append("text "), "text ");
  EXPECT_EQ(matcher.Append("E"), "");
  EXPECT_EQ(matcher.Append("ND more"), "");
  EXPECT_TRUE(matcher.stopped());
  EXPECT_EQ(matcher.Append("again"), "");
  EXPECT_EQ(matcher.Flush(), "");
}

TEST(StopMatcher, LetsGoOfWhatTurnsOutToBeNone) {
  StopMatcher matcher({"ENDE", "NOW"});
  EXPECT_EQ(matcher.Append("xEN"), "x");
  EXPECT_EQ(matcher.Append("D"), "");
  EXPECT_EQ(matcher.Append("EN"), "");  // "ENDE" is found only now
  EXPECT_TRUE(matcher.stopped());
  StopMatcher other({"ENDE", "NOW"});
  EXPECT_EQ(other.Append("EN"), "");
  EXPECT_EQ(other.Append("O"), "E") << "NO may still become NOW";
  EXPECT_EQ(other.Append("!"), "NO!");
  EXPECT_EQ(other.Append("E"), "");
  EXPECT_EQ(other.Flush(), "E");
  EXPECT_FALSE(other.stopped());
}

TEST(StopMatcher, TheFirstToBeCompleteWinsAndOfThoseTheLongest) {
  for (const size_t cut : {1, 3, 5, 7}) {
    StopMatcher matcher({"bcd", "abcdef"});
    const std::string text = "xabcdef";
    std::string out = matcher.Append(text.substr(0, cut));
    out += matcher.Append(text.substr(cut));
    EXPECT_EQ(out, "xa") << cut;
  }
  StopMatcher both({"cd", "bcd"});
  EXPECT_EQ(both.Append("abcd"), "a");
}

TEST(StopMatcher, WithoutStopsTextPasses) {
  StopMatcher matcher({});
  EXPECT_EQ(matcher.Append("anything"), "anything");
  EXPECT_EQ(matcher.Flush(), "");
}

TEST(StopMatcher, NothingStopsBeforeItMay) {
  StopMatcher matcher({"b", "abcd"});
  EXPECT_EQ(matcher.Append("xb", /*may_stop=*/false), "xb");
  EXPECT_EQ(matcher.Append("yab", false), "y");
  EXPECT_EQ(matcher.Append("c"), "") << "abcd may still come; its b came too early";
  EXPECT_EQ(matcher.Append("d"), "");
  EXPECT_TRUE(matcher.stopped()) << "it begins before it may stop, and ends after";
  StopMatcher other({"b", "abcd"});
  EXPECT_EQ(other.Append("xab", false), "x");
  EXPECT_EQ(other.Append("xb"), "abx");
  EXPECT_TRUE(other.stopped());
}

// However the text is cut, what comes out is the text before the first stop string.
TEST(StopMatcher, RandomTextInRandomPieces) {
  Rng rng(3);
  for (int round = 0; round < 3000; ++round) {
    const auto random = [&](size_t size) {
      std::string out(size, ' ');
      for (char& c : out) c = static_cast<char>('a' + rng.NextBelow(2));
      return out;
    };
    const std::vector<std::string> stops = {random(1 + rng.NextBelow(6)),
                                            random(1 + rng.NextBelow(6))};
    const std::string text = random(rng.NextBelow(30));
    StopMatcher matcher(stops);
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t count = 1 + rng.NextBelow(4);
      out += matcher.Append(text.substr(at, count));
      at += count;
    }
    out += matcher.Flush();
    StopMatcher whole(stops);
    std::string want = whole.Append(text);
    want += whole.Flush();
    EXPECT_EQ(out, want) << text;
    EXPECT_EQ(matcher.stopped(), whole.stopped());
    for (const std::string& stop : stops) EXPECT_EQ(out.find(stop), std::string::npos) << text;
    EXPECT_EQ(text.substr(0, out.size()), out);
    EXPECT_EQ(whole.stopped(),
              text.find(stops[0]) != std::string::npos || text.find(stops[1]) != std::string::npos);
  }
}

TEST(StopMatcher, Validation) {
  EXPECT_TRUE(ValidateStopStrings({"a", "b"}).ok());
  EXPECT_THAT(ValidateStopStrings({""}).message(), HasSubstr("empty"));
  EXPECT_THAT(ValidateStopStrings({std::string(1025, 'x')}).message(), HasSubstr("1025 bytes"));
  EXPECT_THAT(ValidateStopStrings(std::vector<std::string>(65, "x")).message(),
              HasSubstr("65 stop strings"));
}

}  // namespace
}  // namespace gdn
