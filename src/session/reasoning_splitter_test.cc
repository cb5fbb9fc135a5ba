// SPDX-License-Identifier: Apache-2.0
#include "session/reasoning_splitter.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace gdn {
namespace {

using Parts = std::pair<std::string, std::string>;  // reasoning, text

Parts Split(ReasoningStart start, const std::vector<std::string>& pieces) {
  ReasoningSplitter splitter(start);
  Parts out;
  const auto add = [&](const ReasoningSplitter::Parts& parts) {
    out.first += parts.reasoning;
    out.second += parts.text;
  };
  for (const std::string& piece : pieces) add(splitter.Append(piece));
  add(splitter.Flush());
  return out;
}

// Whole, byte by byte, and cut once at every place.
void ExpectSplit(ReasoningStart start, const std::string& reply, const Parts& want) {
  SCOPED_TRACE(reply);
  EXPECT_EQ(Split(start, {reply}), want);
  std::vector<std::string> bytes;
  for (const char c : reply) bytes.emplace_back(1, c);
  EXPECT_EQ(Split(start, bytes), want);
  for (size_t cut = 0; cut <= reply.size(); ++cut) {
    EXPECT_EQ(Split(start, {reply.substr(0, cut), reply.substr(cut)}), want) << cut;
  }
}

TEST(ReasoningSplitter, SplitsWhereverTheReplyIsCut) {
  const auto marked = ReasoningStart::kMarked;
  ExpectSplit(marked, "<think>\nwhy\n</think>\n\nso", {"why", "so"});
  ExpectSplit(marked, " \n<think>a\n\nb</think>c\n", {"a\n\nb", "c\n"});
  ExpectSplit(marked, "<think></think>x", {"", "x"});
  ExpectSplit(marked, "no <think>reasoning</think>", {"", "no <think>reasoning</think>"});
  ExpectSplit(marked, "<thin", {"", "<thin"});
  ExpectSplit(marked, " \n", {"", " \n"});
  ExpectSplit(marked, "", {"", ""});
}

TEST(ReasoningSplitter, StartsInsideWhereThePromptHasOpenedIt) {
  const auto inside = ReasoningStart::kInside;
  ExpectSplit(inside, "\nwhy\n</think>\n\nso</think>", {"why", "so</think>"});
  ExpectSplit(inside, "a < b </thin </think>", {"a < b </thin ", ""});
  ExpectSplit(inside, "cut off </thi", {"cut off </thi", ""});
  ExpectSplit(inside, "cut off\n\n", {"cut off", ""});
}

TEST(ReasoningSplitter, LeavesTextAloneWhereNoneIsLookedFor) {
  ExpectSplit(ReasoningStart::kNever, "<think>a</think>b", {"", "<think>a</think>b"});
}

TEST(ReasoningSplitter, EmitsReasoningAsItComes) {
  ReasoningSplitter splitter(ReasoningStart::kInside);
  EXPECT_EQ(splitter.Append("one").reasoning, "one");
  EXPECT_EQ(splitter.Append("\n").reasoning, "");  // may be the end's
  EXPECT_EQ(splitter.Append("two </").reasoning, "\ntwo ");
  EXPECT_EQ(splitter.Append("b>").reasoning, "</b>");
}

TEST(ReasoningStart, IsThatOfThePromptsEnd) {
  EXPECT_EQ(ReasoningStartAfter("<|im_start|>assistant\n<think>\n", ""), ReasoningStart::kInside);
  EXPECT_EQ(ReasoningStartAfter("assistant\n<think>\n\n</think>\n\n", ""), ReasoningStart::kMarked);
  EXPECT_EQ(ReasoningStartAfter("say <think> to me\nassistant\n", ""), ReasoningStart::kMarked);
  EXPECT_EQ(ReasoningStartAfter("assistant\n<think>half", "<think>half"), ReasoningStart::kInside);
  EXPECT_EQ(ReasoningStartAfter("assistant\nThe", "The"), ReasoningStart::kNever);
}

}  // namespace
}  // namespace gdn
