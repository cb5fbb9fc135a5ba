// SPDX-License-Identifier: Apache-2.0
#include "bench_serve/sse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gdn {
namespace {

using testing::ElementsAre;

std::vector<std::string> EventsOf(std::string_view text, size_t piece) {
  SseParser parser;
  std::vector<std::string> events;
  for (size_t at = 0; at < text.size(); at += piece) {
    const Status status = parser.Feed(
        text.substr(at, piece), [&events](std::string_view data) { events.emplace_back(data); });
    EXPECT_TRUE(status.ok()) << status.message();
  }
  return events;
}

class SsePieces : public testing::TestWithParam<size_t> {};

TEST_P(SsePieces, LineEndsOfAllKindsWhereverTheTextIsCut) {
  EXPECT_THAT(EventsOf("data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\n", GetParam()),
              ElementsAre("a", "b", "c", "d"));
}

TEST_P(SsePieces, DataLinesAreJoined) {
  EXPECT_THAT(EventsOf("data: one\ndata:two\ndata\ndata:  three\n\n", GetParam()),
              ElementsAre("one\ntwo\n\n three"));
}

TEST_P(SsePieces, WhatIsNoDataIsSkipped) {
  EXPECT_THAT(EventsOf(": ping\n\nevent: x\nid: 1\ndata: a\ndatabase: b\n\n\n\n", GetParam()),
              ElementsAre("a"));
}

TEST_P(SsePieces, ByteOrderMarkAndUtf8) {
  EXPECT_THAT(EventsOf("\xEF\xBB\xBF"
                       "data: \xC3\xA4\n\n",
                       GetParam()),
              ElementsAre("\xC3\xA4"));
}

TEST_P(SsePieces, AnEventThatIsNotEndedIsNone) {
  EXPECT_THAT(EventsOf("data: a\n\ndata: b\n", GetParam()), ElementsAre("a"));
}

INSTANTIATE_TEST_SUITE_P(Sizes, SsePieces, testing::Values(1, 2, 3, 7, 1000));

TEST(Sse, AnEventHasALimit) {
  SseParser parser;
  const std::string line = "data: " + std::string(SseParser::kMaxEventBytes, 'x');
  const Status status = parser.Feed(line, [](std::string_view) {});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "an event is over 16.00 MiB, want less");
}

}  // namespace
}  // namespace gdn
