// SPDX-License-Identifier: Apache-2.0
#include "bench_serve/workload.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench_serve/http_loop.h"

namespace gdn {
namespace {

using Json = nlohmann::json;

std::vector<Json> Bodies(const WorkloadOptions& options) {
  const Result<std::vector<std::string>> made = MakeWorkload(options, "tiny");
  EXPECT_TRUE(made.ok()) << made.status().message();
  std::vector<Json> out;
  for (const std::string& body : made.ok() ? *made : std::vector<std::string>()) {
    out.push_back(Json::parse(body));
  }
  return out;
}

class PromptsFile : public testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(path_) << text; }
  std::string Error(bool is_chat = false) {
    const WorkloadOptions options{.is_chat = is_chat, .num_requests = 3, .prompts_file = path_};
    return MakeWorkload(options, "tiny").status().message();
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = testing::TempDir() + "gdn_prompts_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST(Workload, RandomIdsHaveTheLengthsAndTheVocabulary) {
  const WorkloadOptions options{.num_requests = 50,
                                .num_warmups = 2,
                                .prompt_tokens = {3, 9},
                                .output_tokens = {5, 5},
                                .vocab = 7};
  const std::vector<Json> bodies = Bodies(options);
  ASSERT_EQ(bodies.size(), 52);
  size_t shortest = 100;
  size_t longest = 0;
  for (const Json& body : bodies) {
    EXPECT_EQ(body["model"], "tiny");
    EXPECT_EQ(body["max_tokens"], 5);
    EXPECT_EQ(body["ignore_eos"], true);
    EXPECT_EQ(body["stream_options"]["include_usage"], true);
    shortest = std::min(shortest, body["prompt"].size());
    longest = std::max(longest, body["prompt"].size());
    for (const Json& id : body["prompt"]) EXPECT_LT(id.get<int>(), 7);
  }
  EXPECT_EQ(shortest, 3);
  EXPECT_EQ(longest, 9);
}

TEST(Workload, ARequestDependsOnTheSeedAndItsPlaceAlone) {
  const WorkloadOptions few{.num_requests = 4, .seed = 5};
  const WorkloadOptions many{.num_requests = 9, .seed = 5};
  EXPECT_EQ(Bodies(few)[4], Bodies(many)[4]);
  EXPECT_NE(Bodies(few)[3], Bodies(few)[4]);
  EXPECT_NE(Bodies(few)[0], Bodies({.num_requests = 4, .seed = 6})[0]);
}

TEST(Workload, AChatHasWords) {
  const Json body = Bodies({.is_chat = true, .num_requests = 1, .prompt_tokens = {4, 4}})[0];
  const std::string text = body["messages"][0]["content"];
  EXPECT_EQ(std::ranges::count(text, ' '), 3);
  EXPECT_FALSE(body.contains("prompt"));
}

TEST_F(PromptsFile, LinesBeginAgainAndMayChangeFields) {
  Write("{\"prompt\": \"a\"}\n\n{\"prompt\": [1, 2], \"max_tokens\": 3, \"top_k\": 4}\n");
  const WorkloadOptions options{.num_requests = 3, .num_warmups = 0, .prompts_file = path_};
  const std::vector<Json> bodies = Bodies(options);
  ASSERT_EQ(bodies.size(), 3);
  EXPECT_EQ(bodies[0]["max_tokens"], 128);
  EXPECT_EQ(bodies[1]["prompt"], Json({1, 2}));
  EXPECT_EQ(bodies[1]["max_tokens"], 3);
  EXPECT_EQ(bodies[1]["top_k"], 4);
  EXPECT_EQ(bodies[2], bodies[0]);
}

TEST_F(PromptsFile, ErrorsNameTheLine) {
  Write("{\"prompt\": \"a\"}\n{\"text\": \"b\"}\n");
  EXPECT_EQ(Error(), path_ + ":2: want an object with prompt or messages");
  Write("{\"messages\": []}\n");
  EXPECT_EQ(Error(), path_ + ":1: messages are of a chat: they want --endpoint chat");
  Write("{\"prompt\": [1]}\n");
  EXPECT_EQ(Error(true), path_ + ":1: prompt is no text, want text for a chat");
  Write("\n");
  EXPECT_EQ(Error(), path_ + ": has no line, want one a prompt");
  std::filesystem::remove(path_);
  EXPECT_EQ(Error(), path_ + ": cannot be read: No such file or directory");
}

TEST(CountRange, IsANumberOrTwo) {
  EXPECT_EQ(ParseCountRange("-n", "7")->high, 7);
  EXPECT_EQ(ParseCountRange("-n", "7:12")->low, 7);
  EXPECT_EQ(ParseCountRange("-n", "7:12")->high, 12);
  for (const char* text : {"", "0", "x", "5:", ":5", "9:3", "1:2:3", "5 ", "99999999"}) {
    EXPECT_EQ(ParseCountRange("-n", text).status().code(), StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(ParseCountRange("-n", "9:3").status().message(),
            "-n is \"9:3\", want N or LOW:HIGH, from 1 to 4194304");
}

TEST(HttpUrl, Parts) {
  const Result<HttpUrl> url = ParseHttpUrl("http://host:81/v2/");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->host, "host");
  EXPECT_EQ(url->port, "81");
  EXPECT_EQ(url->path, "/v2");
  EXPECT_EQ(ParseHttpUrl("http://host")->port, "80");
  EXPECT_EQ(ParseHttpUrl("http://[::1]:5")->host, "::1");
  EXPECT_EQ(ParseHttpUrl("http://[::1]:5")->Text(), "http://[::1]:5");
}

TEST(HttpUrl, Errors) {
  for (const char* text : {"", "host:80", "https://host", "http://", "http://:80", "http://h:0",
                           "http://h:65536", "http://h:x", "http://[::1", "http://a b",
                           "http://u@h", "http://h/?q", "http://h\r\nX: y"}) {
    EXPECT_EQ(ParseHttpUrl(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace gdn
