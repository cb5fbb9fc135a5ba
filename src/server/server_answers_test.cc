// SPDX-License-Identifier: Apache-2.0
// What clients get for requests for text: what the session says, in full or as it comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/server_testing.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kChat = "/v1/chat/completions";
constexpr const char* kText = "/v1/completions";
constexpr const char* kSampled =
    R"("prompt": "In the beginning", "max_tokens": 24, "temperature": 0.9, "top_k": 0, "top_p": 1,
       "seed": 3, "ignore_eos": true)";

std::vector<Completion> Alone(const std::string& prompt, GenerationParams params) {
  const auto session = LoadTiny(2, 8);
  Result<std::unique_ptr<Stream>> stream = session->Submit(prompt, params);
  GDN_CHECK(stream.ok());
  Result<std::vector<Completion>> completions = Collect(
      **stream, [](const Chunk&) {}, [] { return true; });
  GDN_CHECK(completions.ok());
  return std::move(completions).value();
}

GenerationParams Sampled() {
  return {.max_new_tokens = 24, .sampling = {.temperature = 0.9F, .seed = 3}, .stop_at_eos = false};
}

TEST(ServerAnswers, AreThoseOfTheSession) {
  const auto server = StartServer();
  const TestResponse response =
      Ask(server->port(), PostText(kText, StrCat("{", kSampled, R"(, "n": 3})")));
  ASSERT_EQ(response.status, 200) << response.body;
  const Json json = response.json();
  GenerationParams params = Sampled();
  params.num_completions = 3;
  const std::vector<Completion> alone = Alone("In the beginning", params);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(json["choices"][i]["text"], alone[i].text);
    EXPECT_EQ(json["choices"][i]["index"], i);
    EXPECT_EQ(json["choices"][i]["finish_reason"], "length");
  }
  EXPECT_EQ(json["usage"]["completion_tokens"], 72);
  EXPECT_EQ(json["model"], "tiny");
}

TEST(ServerAnswers, StreamsHoldTheSameText) {
  const auto server = StartServer();
  const TestResponse response = Ask(
      server->port(),
      PostText(kText, StrCat("{", kSampled,
                             R"(, "stream": true, "stream_options": {"include_usage": true}})")));
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_TRUE(response.HasHeader("Content-Type: text/event-stream"));
  std::vector<std::string> events = response.events();
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events.back(), "[DONE]");
  events.pop_back();
  const Json usage = Json::parse(events.back());
  EXPECT_EQ(usage["choices"], Json::array());
  EXPECT_EQ(usage["usage"]["completion_tokens"], 24);
  events.pop_back();
  std::string text;
  for (const std::string& event : events) {
    const Json choice = Json::parse(event)["choices"][0];
    text += choice["text"];
    EXPECT_EQ(choice["finish_reason"].is_null(), &event != &events.back());
  }
  EXPECT_EQ(text, Alone("In the beginning", Sampled()).front().text);
}

// Clients take the time between events for the time between tokens. 2045 ends a text of
// models/tiny.
TEST(ServerAnswers, TokensWithoutTextAreEventsToo) {
  const auto server = StartServer();
  const TestResponse response =
      Ask(server->port(), PostText(kText, R"({"prompt": "In", "max_tokens": 300, "stream": true,
          "temperature": 0, "ignore_eos": true, "logit_bias": {"2045": 100}})"));
  ASSERT_EQ(response.status, 200) << response.body;
  const std::vector<std::string> events = response.events();
  // Several tokens may share one; without them there would be the last and [DONE].
  EXPECT_GT(events.size(), 3U);
  EXPECT_EQ(Json::parse(events.front())["choices"][0]["text"], "");
}

TEST(ServerAnswers, OfAConversation) {
  const auto server = StartServer();
  const std::string members =
      R"("messages": [{"role": "user", "content": "hello"}], "temperature": 0, "max_tokens": 12)";
  const Json whole = Ask(server->port(), PostText(kChat, StrCat("{", members,
                                                                ", \"logprobs\": true, "
                                                                "\"top_logprobs\": 2}")))
                         .json();
  const Json& message = whole["choices"][0]["message"];
  EXPECT_EQ(message["role"], "assistant");
  const Json& log_probs = whole["choices"][0]["logprobs"]["content"];
  EXPECT_EQ(log_probs.size(), whole["usage"]["completion_tokens"]);
  for (const Json& token : log_probs) {
    EXPECT_LE(token["logprob"], 0);
    ASSERT_EQ(token["top_logprobs"].size(), 2U);
    EXPECT_EQ(token["top_logprobs"][0]["logprob"], token["logprob"]);  // greedy
    EXPECT_GE(token["top_logprobs"][0]["logprob"], token["top_logprobs"][1]["logprob"]);
  }
  const TestResponse stream =
      Ask(server->port(), PostText(kChat, StrCat("{", members, ", \"stream\": true}")));
  std::string text;
  const std::vector<std::string> events = stream.events();
  EXPECT_EQ(Json::parse(events.front())["choices"][0]["delta"]["role"], "assistant");
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    text += Json::parse(events[i])["choices"][0]["delta"].value("content", "");
  }
  EXPECT_EQ(message["content"], text);
}

TEST(ServerAnswers, SayWhatWasCached) {
  const auto server = StartServer();
  std::string prompt;
  for (int i = 0; i < 40; ++i) prompt += "and he said unto them, ";
  const auto ask = [&] {
    const Json json =
        Ask(server->port(),
            PostText(kText, StrCat(R"({"max_tokens": 1, "prompt": ")", prompt, "\"}")))
            .json();
    return json["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>();
  };
  EXPECT_EQ(ask(), 0);
  EXPECT_GT(ask(), 0);
  EXPECT_EQ(Ask(server->port(), PostText("/reset_prefix_cache", "")).status, 200);
  EXPECT_EQ(ask(), 0);
  EXPECT_GT(Metric(server->port(), "gdn:prefix_cache_hits_total"), 0);
}

TEST(ServerAnswers, ManyPromptsAtOnce) {
  const auto server = StartServer();
  const Json ids = Ask(server->port(), PostText("/tokenize", R"({"prompt": "And the"})")).json();
  const Json texts =
      Ask(server->port(), PostText(kText, R"({"prompt": ["And the", "The king"], "temperature": 0,
                                             "max_tokens": 8})"))
          .json();
  const Json body = {{"prompt", {ids["tokens"]}}, {"temperature", 0}, {"max_tokens", 8}};
  const Json one = Ask(server->port(), PostText(kText, body.dump())).json();
  ASSERT_EQ(texts["choices"].size(), 2U);
  EXPECT_EQ(texts["choices"][0]["text"], one["choices"][0]["text"]);
  const Json decoded =
      Ask(server->port(), PostText("/detokenize", Json{{"tokens", ids["tokens"]}}.dump())).json();
  EXPECT_EQ(decoded["prompt"], "And the");
}

TEST(ServerAnswers, RefuseWhatCannotBe) {
  const auto server = StartServer();
  const auto error = [&](const std::string& members, int status) {
    const TestResponse response =
        Ask(server->port(), PostText(kText, StrCat(R"({"prompt": "a", )", members, "}")));
    EXPECT_EQ(response.status, status) << members;
    return response.error();
  };
  EXPECT_THAT(error(R"("max_tokens": 512)", 400),
              HasSubstr("is 512 tokens, but the prompt has 1 "));
  EXPECT_THAT(error(R"("model": "other")", 404), HasSubstr("want \"tiny\""));
  EXPECT_THAT(error(R"("logit_bias": {"99999": 1})", 400), HasSubstr("token 99999"));
  EXPECT_THAT(error(R"("n": 0)", 400), HasSubstr("n is 0"));
  const TestResponse ids = Ask(server->port(), PostText(kText, R"({"prompt": [100000]})"));
  EXPECT_THAT(ids.error(), HasSubstr("token 100000"));
  const TestResponse chat = Ask(server->port(), PostText(kChat, R"({"messages": [{"role": "user",
      "content": [{"type": "image_url"}]}]})"));
  EXPECT_EQ(chat.status, 400);
  EXPECT_EQ(Metric(server->port(), "gdn:num_requests_running"), 0);
}

}  // namespace
}  // namespace gdn
