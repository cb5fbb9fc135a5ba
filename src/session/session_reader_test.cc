// SPDX-License-Identifier: Apache-2.0
// What a server needs of a session: readers that never wait, prompts to look at, a cache to clear.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <thread>

#include "session/session_testing.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

// Reads with OnReady alone; own keeps itself alive until the stream has ended.
struct Reader : std::enable_shared_from_this<Reader> {
  std::unique_ptr<Stream> stream;
  std::vector<int32_t> tokens;
  std::promise<void> ended;

  void Arm() {
    stream->OnReady([self = shared_from_this()] { self->Drain(); });
  }
  void Drain() {
    while (const auto chunk = stream->NextFor(std::chrono::milliseconds(0))) {
      if (chunk->token >= 0) tokens.push_back(chunk->token);
    }
    if (stream->ended()) {
      ended.set_value();
    } else {
      Arm();
    }
  }
};

TEST(SessionReader, GetsEveryTokenWithoutWaiting) {
  const auto session = LoadTiny(2, 0);
  const GenerationParams params{.max_new_tokens = 32, .stop_at_eos = false};
  Result<std::unique_ptr<Stream>> plain = session->Submit("In the beginning", params);
  ASSERT_TRUE(plain.ok());
  const std::vector<int32_t> want = ReadAll(**plain).front().tokens;
  const auto reader = std::make_shared<Reader>();
  Result<std::unique_ptr<Stream>> stream = session->Submit("In the beginning", params);
  ASSERT_TRUE(stream.ok());
  reader->stream = std::move(*stream);
  reader->Arm();
  reader->ended.get_future().wait();
  EXPECT_EQ(reader->tokens, want);
}

TEST(SessionReader, IsCalledWhenTheSessionEnds) {
  auto session = LoadTiny(2, 0);
  const auto reader = std::make_shared<Reader>();
  Result<std::unique_ptr<Stream>> stream =
      session->Submit("And the", {.max_new_tokens = 500, .stop_at_eos = false});
  ASSERT_TRUE(stream.ok());
  reader->stream = std::move(*stream);
  reader->Arm();
  session.reset();
  EXPECT_EQ(reader->ended.get_future().wait_for(std::chrono::seconds(10)),
            std::future_status::ready);
}

TEST(SessionReader, EncodesAConversationAsItIsSubmitted) {
  const auto session = LoadTiny(2, 0);
  const ChatRequest request{.messages = Json::array({{{"role", "user"}, {"content", "hello"}}})};
  const Result<Prompt> prompt = session->EncodeChat(request);
  ASSERT_TRUE(prompt.ok()) << prompt.status().message();
  Result<std::unique_ptr<Stream>> chat = session->SubmitChat(request, {.max_new_tokens = 8});
  Result<std::unique_ptr<Stream>> halves = session->SubmitPrompt(*prompt, {.max_new_tokens = 8});
  ASSERT_TRUE(chat.ok() && halves.ok());
  EXPECT_EQ((*chat)->prompt_tokens(), prompt->tokens);
  EXPECT_EQ(ReadAll(**chat).front().text, ReadAll(**halves).front().text);
}

TEST(SessionReader, FindsNothingInAClearedCache) {
  const auto session = LoadTiny(2, 8);
  const GenerationParams params{.max_new_tokens = 1};
  const auto cached = [&] {
    Result<std::unique_ptr<Stream>> stream =
        session->SubmitTokens(std::vector<int32_t>(200, 7), params);
    GDN_CHECK(stream.ok());
    return ReadAll(**stream).front().num_cached_tokens;
  };
  EXPECT_EQ(cached(), 0);
  EXPECT_GT(cached(), 0);
  session->ClearPrefixCache();
  EXPECT_EQ(cached(), 0);
}

TEST(SessionReader, LogitsBecomeLogProbabilities) {
  const auto session = LoadTiny(2, 0);
  Result<std::unique_ptr<Stream>> stream =
      session->Submit("In the", {.max_new_tokens = 4, .num_top_logits = 1024, .log_probs = true});
  ASSERT_TRUE(stream.ok());
  const std::optional<Chunk> chunk = (*stream)->Next();
  ASSERT_TRUE(chunk.has_value() && chunk->log_sum_exp.has_value());
  EXPECT_EQ(chunk->top_logits.front().token, chunk->token);  // greedy
  EXPECT_DOUBLE_EQ(chunk->top_logits.front().logit - *chunk->log_sum_exp, *chunk->log_prob);
  double sum = 0;
  for (const TokenLogit& top : chunk->top_logits) sum += std::exp(top.logit - *chunk->log_sum_exp);
  EXPECT_NEAR(sum, 1, 0.05);  // half of the vocabulary has nearly all of the probability
  EXPECT_LE(sum, 1 + 1e-9);
}

}  // namespace
}  // namespace gdn
