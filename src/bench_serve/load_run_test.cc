// SPDX-License-Identifier: Apache-2.0
// Whole runs against a server in this process.
#include "bench_serve/load_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "bench_serve/fake_server_testing.h"
#include "bench_serve/load_report.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::chrono::milliseconds kPause{30};
constexpr double kPauseMs = 30;
const std::string kUsage = R"({"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":3,)"
                           R"("prompt_tokens_details":{"cached_tokens":5}}})";

std::string Event(std::string_view data) { return Chunked(StrCat("data: ", data, "\n\n")); }

std::string Refusal(std::string_view status, std::string_view body) {
  return StrCat("HTTP/1.1 ", status, "\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
}

void WriteTokens(const FakeConnection& connection) {
  connection.Write(kStreamHead);
  for (const char* text : {"a", "b"}) {
    connection.Write(Event(StrCat(R"({"choices":[{"text":")", text, R"("}]})")));
    std::this_thread::sleep_for(kPause);
  }
  connection.Write(Event(R"({"choices":[{"text":"c","finish_reason":"length"}]})"));
}

void WriteAnswer(const FakeConnection& connection) {
  WriteTokens(connection);
  connection.Write(Event(kUsage) + Event("[DONE]") + "0\r\n\r\n");
}

LoadOptions OptionsOf(const FakeServer& server) {
  return {.url = server.url(), .timeout = std::chrono::seconds(20), .concurrency = 1};
}

nlohmann::ordered_json ReportOfRun(const LoadOptions& options, size_t requests) {
  const Result<LoadResult> result =
      RunLoad(options, std::vector<std::string>(requests, "{}"), LoadHooks());
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? ReportOf(*result) : nlohmann::ordered_json();
}

// The one error of a run of one request.
std::string ErrorOf(const LoadOptions& options) {
  const auto report = ReportOfRun(options, 1);
  EXPECT_EQ(report["failed"], 1);
  EXPECT_EQ(report["completed"], 0);
  return report["errors"][0]["message"];
}

std::string ErrorOfAnswer(std::function<void(const FakeConnection&)> answer) {
  const FakeServer server(std::move(answer));
  return ErrorOf(OptionsOf(server));
}

TEST(LoadRun, CountsWhatTheServerSays) {
  const FakeServer server(WriteAnswer);
  const auto report = ReportOfRun(OptionsOf(server), 4);
  EXPECT_EQ(report["completed"], 4);
  EXPECT_EQ(report["failed"], 0);
  EXPECT_EQ(report["prompt_tokens"], 32);
  EXPECT_EQ(report["cached_tokens"], 20);
  EXPECT_EQ(report["output_tokens"], 12);
  EXPECT_EQ(report["tokens_counted_by"], "server");
  // Two pauses an answer, one between two chunks; how much more depends on the machine.
  EXPECT_GE(report["e2e_ms"]["p50"], 2 * kPauseMs);
  EXPECT_GE(report["itl_ms"]["mean"], 0.9 * kPauseMs);
  EXPECT_GE(report["tpot_ms"]["mean"], 0.9 * kPauseMs);
  EXPECT_GT(report["ttft_ms"]["p50"], 0);
  EXPECT_LT(report["ttft_ms"]["p50"], report["e2e_ms"]["p50"]);
  EXPECT_GE(report["duration_s"], 8 * kPauseMs / 1000);
}

TEST(LoadRun, KeepsTheConcurrency) {
  const FakeServer server(WriteAnswer);
  LoadOptions options = OptionsOf(server);
  options.concurrency = 3;
  const auto report = ReportOfRun(options, 9);
  EXPECT_EQ(report["completed"], 9);
  EXPECT_EQ(report["most_running"], 3);
  EXPECT_GE(server.most_at_once(), 2);  // one may just be closing
  EXPECT_LE(server.most_at_once(), 6);
}

TEST(LoadRun, ARateDoesNotWaitForAnswers) {
  const FakeServer server(WriteAnswer);
  LoadOptions options = OptionsOf(server);
  options.concurrency = 0;
  options.request_rate = 1000;
  const auto report = ReportOfRun(options, 8);
  EXPECT_EQ(report["completed"], 8);
  EXPECT_GT(report["most_running"], 1);
}

TEST(LoadRun, CountsChunksWhereTheServerDoesNotCount) {
  const FakeServer server([](const FakeConnection& connection) {
    WriteTokens(connection);
    connection.Write(Event("[DONE]") + "0\r\n\r\n");
  });
  const auto report = ReportOfRun(OptionsOf(server), 1);
  EXPECT_EQ(report["output_tokens"], 3);
  EXPECT_EQ(report["tokens_counted_by"], "chunks");
}

TEST(LoadRun, AChatBeginsWithItsFirstText) {
  const FakeServer server([](const FakeConnection& connection) {
    EXPECT_THAT(connection.head(), StartsWith("POST /v1/chat/completions HTTP/1.1\r\n"));
    connection.Write(kStreamHead);
    connection.Write(Event(R"({"choices":[{"delta":{"role":"assistant","content":""}}]})"));
    std::this_thread::sleep_for(kPause);
    connection.Write(Event(R"({"choices":[{"delta":{"reasoning_content":"hm"}}]})"));
    connection.Write(Event(R"({"choices":[{"delta":{"content":"a"}}]})"));
    connection.Write(Event(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})"));
    connection.Write(Event("[DONE]") + "0\r\n\r\n");
  });
  LoadOptions options = OptionsOf(server);
  options.is_chat = true;
  const auto report = ReportOfRun(options, 1);
  EXPECT_EQ(report["output_tokens"], 2);
  EXPECT_GE(report["ttft_ms"]["p50"], kPauseMs);
}

TEST(LoadRun, SendsTheKey) {
  const FakeServer server([](const FakeConnection& connection) {
    EXPECT_THAT(connection.head(), HasSubstr("\r\nAuthorization: Bearer s3cret\r\n"));
    WriteAnswer(connection);
  });
  LoadOptions options = OptionsOf(server);
  options.api_key = "s3cret";
  EXPECT_EQ(ReportOfRun(options, 1)["completed"], 1);
}

TEST(LoadRun, FailuresAreShownInTheServersWords) {
  EXPECT_EQ(ErrorOfAnswer([](const FakeConnection& connection) {
              connection.Write(Refusal("429 Too Many Requests", R"({"error":{"message":"wait"}})"));
            }),
            "HTTP 429: wait");
  EXPECT_EQ(ErrorOfAnswer([](const FakeConnection& connection) {
              connection.Write(Refusal("502 Bad Gateway", "<h1>no</h1>"));
            }),
            "HTTP 502: <h1>no</h1>");
  EXPECT_EQ(ErrorOfAnswer([](const FakeConnection& connection) {
              connection.Write(kStreamHead);
              connection.Write(Event(R"({"error":{"message":"lost\nit"}})"));
              connection.Write(Event("[DONE]") + "0\r\n\r\n");
            }),
            "lost it");
}

TEST(LoadRun, AnAnswerThatIsNotCompleteFails) {
  EXPECT_THAT(ErrorOfAnswer(WriteTokens), HasSubstr("the answer is cut short"));
  EXPECT_EQ(ErrorOfAnswer([](const FakeConnection& connection) {
              WriteTokens(connection);
              connection.Write("0\r\n\r\n");
            }),
            "the answer ends without [DONE]");
  EXPECT_THAT(ErrorOfAnswer([](const FakeConnection& connection) {
                connection.Write(StrCat(kStreamHead, Event("{"), Event("[DONE]"), "0\r\n\r\n"));
              }),
              StartsWith("chunk: "));
  EXPECT_THAT(ErrorOfAnswer([](const FakeConnection&) {}), HasSubstr("no answer"));
}

TEST(LoadRun, AServerThatSaysNothingIsGivenUp) {
  std::atomic<bool> over = false;
  const FakeServer server([&over](const FakeConnection&) {
    while (!over) std::this_thread::sleep_for(kPause);
  });
  LoadOptions options = OptionsOf(server);
  options.timeout = std::chrono::seconds(1);
  EXPECT_THAT(ErrorOf(options), HasSubstr("the time is over"));
  over = true;
}

TEST(LoadRun, WithoutAServer) {
  HttpUrl url;
  { url = FakeServer(WriteAnswer).url(); }
  LoadOptions options{.url = url, .concurrency = 1};
  EXPECT_EQ(ErrorOf(options), url.Text() + ": cannot connect: Connection refused");
  EXPECT_EQ(FirstModel(options).status().code(), StatusCode::kUnavailable);
}

TEST(LoadRun, StopsWhenAsked) {
  std::atomic<bool> over = false;
  const FakeServer server([&over](const FakeConnection&) {
    while (!over) std::this_thread::sleep_for(kPause);
  });
  const LoadHooks hooks{.stop = [] { return true; }};
  EXPECT_EQ(RunLoad(OptionsOf(server), {"{}"}, hooks).status().code(), StatusCode::kCancelled);
  over = true;
}

Result<std::string> FirstModelOf(std::string body) {
  const FakeServer server([body = std::move(body)](const FakeConnection& connection) {
    EXPECT_THAT(connection.head(), StartsWith("GET /v1/models HTTP/1.1\r\n"));
    connection.Write(Refusal("200 OK", body));
  });
  return FirstModel(OptionsOf(server));
}

TEST(FirstModel, OfTheList) {
  EXPECT_EQ(*FirstModelOf(R"({"data":[{"id":"m1"},{"id":"m2"}]})"), "m1");
  EXPECT_THAT(FirstModelOf(R"({"data":[]})").status().message(),
              HasSubstr("/v1/models: names no model, want --model"));
}

}  // namespace
}  // namespace gdn
