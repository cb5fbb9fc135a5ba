// SPDX-License-Identifier: Apache-2.0
#include "session/stream.h"

#include <gtest/gtest.h>

#include "session/inbox.h"
#include "session/stream_state.h"

namespace gdn {
namespace {

std::shared_ptr<StreamState> StateOf(int64_t completions) {
  auto state = std::make_shared<StreamState>();
  state->inbox = std::make_shared<Inbox>();
  state->job = 7;
  state->num_unended = completions;
  state->ended.assign(static_cast<size_t>(completions), 0);
  return state;
}

TEST(Stream, WhatIsLostEndsWithAnErrorOnce) {
  const auto state = StateOf(3);
  state->chunks.push_back({.completion = 1, .token = 5, .finish = FinishReason::kStop});
  state->lost = true;
  Stream stream(state);
  EXPECT_EQ(stream.Next()->finish, FinishReason::kStop);
  for (const int64_t completion : {0, 2}) {
    const std::optional<Chunk> chunk = stream.Next();
    ASSERT_TRUE(chunk.has_value());
    EXPECT_EQ(chunk->completion, completion);
    EXPECT_EQ(chunk->finish, FinishReason::kError);
    EXPECT_EQ(chunk->error.code(), StatusCode::kOutOfMemory);
  }
  EXPECT_FALSE(stream.Next().has_value());
  EXPECT_TRUE(stream.ended());
}

TEST(Stream, CancelsOnce) {
  const auto state = StateOf(1);
  {
    Stream stream(state);
    for (int i = 0; i < 1000; ++i) stream.Cancel();
  }
  EXPECT_EQ(state->inbox->Take(/*wait=*/false).cancelled, std::vector<uint64_t>{7});
}

TEST(Stream, SaysOnceThatItIsReady) {
  const auto state = StateOf(1);
  Stream stream(state);
  int calls = 0;
  stream.OnReady([&calls] { ++calls; });
  EXPECT_EQ(calls, 0) << "nothing has come yet";
  state->chunks.push_back({.token = 5});
  ASSERT_TRUE(state->on_ready);
  state->on_ready = nullptr;
  stream.OnReady([&calls] { calls += 10; });
  EXPECT_EQ(calls, 10) << "a chunk was there already";
  EXPECT_FALSE(state->on_ready);
  state->chunks.front().finish = FinishReason::kStop;
  EXPECT_TRUE(stream.NextFor(std::chrono::milliseconds(0)).has_value());
  stream.OnReady([&calls] { calls += 100; });
  EXPECT_EQ(calls, 110) << "an ended stream has nothing to wait for";
}

}  // namespace
}  // namespace gdn
