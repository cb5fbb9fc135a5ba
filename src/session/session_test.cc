// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "session/session_testing.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

std::vector<Completion> Complete(Session& session, std::string_view prompt,
                                 const GenerationParams& params) {
  Result<std::unique_ptr<Stream>> stream = session.Submit(prompt, params);
  GDN_CHECK(stream.ok());
  return ReadAll(**stream);
}

GenerationParams Sampled(uint64_t seed) {
  return {
      .max_new_tokens = 24, .sampling = {.temperature = 0.9F, .seed = seed}, .stop_at_eos = false};
}

TEST(Session, ChunksAreTheAnswerPieceByPiece) {
  const auto session = LoadTiny(1);
  const GenerationParams params = Sampled(3);
  Result<std::unique_ptr<Stream>> stream = session->Submit("In the beginning", params);
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  std::string text;
  std::vector<int32_t> tokens;
  FinishReason finish = FinishReason::kNone;
  while (const std::optional<Chunk> chunk = (*stream)->Next()) {
    EXPECT_EQ(finish, FinishReason::kNone) << "a chunk after the last";
    text += chunk->text;
    if (chunk->token >= 0) tokens.push_back(chunk->token);
    finish = chunk->finish;
  }
  EXPECT_TRUE((*stream)->ended());
  EXPECT_FALSE((*stream)->Next().has_value());
  EXPECT_EQ(finish, FinishReason::kLength);
  EXPECT_EQ(tokens.size(), 24U);
  EXPECT_EQ(text, session->tokenizer().Decode(tokens, /*skip_special=*/true));
  const std::vector<Completion> again = Complete(*session, "In the beginning", params);
  EXPECT_EQ(again.front().text, text);
  EXPECT_EQ(again.front().tokens, tokens);
}

// Reports: club-3090 896, llama.cpp 27579, vllm 48613.
TEST(Session, RequestsFromManyThreadsAnswerAsIfAlone) {
  const std::vector<std::string> prompts = {"In the beginning", "And he said", "The king",
                                            "And it came to pass in those days, that"};
  std::vector<std::string> alone;
  {
    const auto session = LoadTiny(1);
    for (size_t i = 0; i < prompts.size(); ++i) {
      alone.push_back(Complete(*session, prompts[i], Sampled(i)).front().text);
    }
  }
  EXPECT_EQ(std::set<std::string>(alone.begin(), alone.end()).size(), prompts.size());
  const auto session = LoadTiny(3, 6);
  constexpr size_t kThreads = 12;
  std::vector<std::string> texts(kThreads);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const size_t which = i % prompts.size();
      texts[i] = Complete(*session, prompts[which], Sampled(which)).front().text;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kThreads; ++i) EXPECT_EQ(texts[i], alone[i % prompts.size()]) << i;
}

TEST(Session, CompletionsOfOnePromptHaveTheirOwnSeeds) {
  const auto session = LoadTiny(4, 4);
  GenerationParams params = Sampled(10);
  params.num_completions = 4;
  const std::vector<Completion> together = Complete(*session, "And the", params);
  ASSERT_EQ(together.size(), 4U);
  params.num_completions = 1;
  for (uint64_t i = 0; i < 4; ++i) {
    params.sampling.seed = 10 + i;
    const Completion alone = Complete(*session, "And the", params).front();
    EXPECT_EQ(together[i].tokens, alone.tokens) << i;
  }
  EXPECT_NE(together[0].tokens, together[1].tokens);
}

TEST(Session, CancelledRequestsEndAndLeaveNothing) {
  const auto session = LoadTiny(2);
  GenerationParams params = Sampled(1);
  params.max_new_tokens = 400;
  Result<std::unique_ptr<Stream>> stream = session->Submit("And the", params);
  ASSERT_TRUE(stream.ok());
  ASSERT_TRUE((*stream)->Next().has_value());
  (*stream)->Cancel();
  const std::vector<Completion> rest = ReadAll(**stream);
  EXPECT_EQ(rest.front().finish, FinishReason::kCancelled);
  EXPECT_LT(rest.front().tokens.size(), 400U);
  // One that is dropped ends, too.
  stream = session->Submit("And the", params);
  ASSERT_TRUE(stream.ok());
  stream->reset();
  // What comes after them finds the session empty.
  Complete(*session, "And", Sampled(2));
  for (int i = 0; i < 1000 && session->stats().num_running > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const EngineStats stats = session->stats();
  EXPECT_EQ(stats.num_running, 0);
  EXPECT_EQ(stats.num_free_slots, 2);
}

TEST(Session, StreamsMayOutliveTheSession) {
  auto session = LoadTiny(1);
  GenerationParams params = Sampled(1);
  params.max_new_tokens = 500;
  Result<std::unique_ptr<Stream>> running = session->Submit("And the", params);
  Result<std::unique_ptr<Stream>> waiting = session->Submit("And the", params);
  ASSERT_TRUE(running.ok() && waiting.ok());
  session.reset();
  EXPECT_EQ(ReadAll(**running).front().finish, FinishReason::kCancelled);
  EXPECT_EQ(ReadAll(**waiting).front().finish, FinishReason::kCancelled);
  (*running)->Cancel();
}

TEST(Session, StopStringsEndTheTextAndTheWork) {
  const auto session = LoadTiny(1);
  GenerationParams params{.max_new_tokens = 64, .stop_at_eos = false};
  const std::string whole = Complete(*session, "In the beginning", params).front().text;
  params.stop = {whole.substr(20, 5)};
  const Completion cut = Complete(*session, "In the beginning", params).front();
  EXPECT_EQ(cut.finish, FinishReason::kStop);
  EXPECT_EQ(cut.text, whole.substr(0, whole.find(params.stop[0])));
  EXPECT_LT(cut.tokens.size(), 64U);
  params.min_new_tokens = static_cast<int64_t>(cut.tokens.size());
  EXPECT_GT(Complete(*session, "In the beginning", params).front().tokens.size(),
            cut.tokens.size());
}

TEST(Session, StopTokensEndTheTextAndAreNoPartOfIt) {
  const auto session = LoadTiny(1);
  GenerationParams params{.max_new_tokens = 32, .stop_at_eos = false};
  const Completion whole = Complete(*session, "In the beginning", params).front();
  const auto stop = std::ranges::find(whole.tokens, whole.tokens[10]);
  const std::vector<int32_t> before(whole.tokens.begin(), stop);
  params.stop_token_ids = {*stop};
  const Completion cut = Complete(*session, "In the beginning", params).front();
  EXPECT_EQ(cut.finish, FinishReason::kStop);
  EXPECT_EQ(cut.tokens, std::vector<int32_t>(whole.tokens.begin(), stop + 1));
  EXPECT_EQ(cut.text, session->tokenizer().Decode(before, /*skip_special=*/true));
}

// Reports: vllm 51250, llama.cpp 20225.
TEST(Session, AConversationComputesOnlyWhatIsNew) {
  const auto session = LoadTiny(1, 8);
  const auto fresh = LoadTiny(1);
  ChatRequest request;
  std::string question;
  for (int i = 0; i < 30; ++i) question += "and he said unto them, ";
  request.messages = Json::array({{{"role", "user"}, {"content", question}}});
  GenerationParams params{.max_new_tokens = 20};
  Result<std::unique_ptr<Stream>> first = session->SubmitChat(request, params);
  ASSERT_TRUE(first.ok()) << first.status().message();
  const Completion reply = ReadAll(**first).front();
  EXPECT_EQ(reply.num_cached_tokens, 0);
  request.messages.push_back({{"role", "assistant"}, {"content", reply.text}});
  request.messages.push_back({{"role", "user"}, {"content", "and then?"}});
  Result<std::unique_ptr<Stream>> second = session->SubmitChat(request, params);
  ASSERT_TRUE(second.ok());
  const Completion next = ReadAll(**second).front();
  const auto total = static_cast<int64_t>((*second)->prompt_tokens().size());
  const auto known = static_cast<int64_t>((*first)->prompt_tokens().size());
  EXPECT_GT(next.num_cached_tokens, 0);
  EXPECT_LE(total - next.num_cached_tokens, (total - known) + 63);
  Result<std::unique_ptr<Stream>> alone = fresh->SubmitChat(request, params);
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(ReadAll(**alone).front().tokens, next.tokens);
}

TEST(Session, RefusesWhatCannotBe) {
  const auto session = LoadTiny(1);
  const auto message = [&](const Result<std::unique_ptr<Stream>>& stream) {
    EXPECT_EQ(stream.status().code(), StatusCode::kInvalidArgument);
    return stream.status().message();
  };
  EXPECT_THAT(message(session->Submit("", {})), HasSubstr("prompt is empty"));
  EXPECT_THAT(message(session->Submit("\xFF", {})), HasSubstr("UTF-8"));
  EXPECT_THAT(message(session->SubmitTokens({1, 5000}, {})), HasSubstr("token 5000"));
  EXPECT_THAT(message(session->Submit("a", {.stop = {""}})), HasSubstr("stop string is empty"));
  EXPECT_THAT(message(session->Submit("a", {.stop = {"\xA9"}})), HasSubstr("not valid UTF-8"));
  EXPECT_THAT(message(session->Submit("a", {.stop_token_ids = {1, 99999}})),
              HasSubstr("stop_token_ids holds 99999"));
  EXPECT_THAT(message(session->Submit("a", {.stop_token_ids = std::vector<int32_t>(129, 1)})),
              HasSubstr("129 ids, want at most 128"));
  EXPECT_THAT(message(session->Submit("a", {.num_completions = 0})),
              HasSubstr("number of completions is 0"));
  EXPECT_THAT(message(session->Submit("a", {.num_completions = kMaxCompletions + 1})),
              HasSubstr("want 1 to 128"));
  EXPECT_THAT(message(session->SubmitTokens(std::vector<int32_t>(600, 1), {})),
              HasSubstr("prompt is 600 tokens"));
  EXPECT_THAT(message(session->SubmitChat({.messages = Json::array()}, {})), HasSubstr("message"));
}

}  // namespace
}  // namespace gdn
