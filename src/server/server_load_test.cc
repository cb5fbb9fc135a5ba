// SPDX-License-Identifier: Apache-2.0
// Clients that go away, come in crowds or while the server starts and stops: nothing is kept of
// them.
#include <gtest/gtest.h>

#include "server/server_testing.h"

namespace gdn {
namespace {

// Nothing of any request is left.
bool IsEmpty(const Server& server) {
  const EngineStats stats = server.stats();
  return server.IsIdle() && stats.num_running == 0 && stats.num_waiting == 0 &&
         stats.num_free_slots == 2;
}

TEST(ServerLoad, HangingUpEndsTheWork) {
  const auto server = StartServer();
  {
    TestClient streaming(server->port());
    streaming.Send(LongRequest(R"(, "stream": true)"));
    EXPECT_NE(streaming.ReadSome(), "");
    TestClient waiting(server->port());
    waiting.Send(LongRequest());
    EXPECT_TRUE(Becomes([&] { return server->stats().num_running == 2; }));
  }
  EXPECT_TRUE(Becomes([&] { return IsEmpty(*server) && server->open_connections() == 0; }));
  EXPECT_LT(server->stats().num_new_tokens, 900);
  EXPECT_EQ(Metric(server->port(), "gdn:free_slots"), 2);
}

TEST(ServerLoad, ACrowdIsRefused) {
  ServerOptions options;
  options.service.max_waiting = 1;
  const auto server = StartServer(options);
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<TestClient>(server->port()));
    clients.back()->Send(LongRequest(R"(, "stream": true)"));
  }
  EXPECT_TRUE(Becomes(
      [&] { return server->stats().num_running == 2 && server->stats().num_waiting == 1; }));
  const TestResponse refused = Ask(server->port(), LongRequest());
  EXPECT_EQ(refused.status, 429);
  EXPECT_TRUE(refused.HasHeader("Retry-After: "));
  EXPECT_EQ(refused.json()["error"]["type"], "rate_limit_error");
  clients.clear();
  EXPECT_TRUE(Becomes([&] { return IsEmpty(*server); }));
  EXPECT_EQ(Ask(server->port(), PostText("/v1/completions", R"({"prompt": "a", "max_tokens": 1})"))
                .status,
            200);
}

TEST(ServerLoad, LoadingAndDraining) {
  const auto server = StartWithoutModel();
  TestResponse health = Ask(server->port(), GetText("/health"));
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(health.json()["status"], "loading");
  EXPECT_TRUE(health.HasHeader("Retry-After: 5"));
  TestResponse early = Ask(server->port(), LongRequest());
  EXPECT_EQ(early.status, 503);
  EXPECT_TRUE(early.HasHeader("Retry-After: "));
  EXPECT_EQ(Ask(server->port(), GetText("/metrics")).status, 200);

  server->SetSession(LoadTiny(2, 8));
  EXPECT_EQ(Ask(server->port(), GetText("/health")).status, 200);
  TestClient running(server->port());
  running.Send(LongRequest(R"(, "stream": true)"));
  EXPECT_TRUE(Becomes([&] { return server->stats().num_running == 1; }));
  server->Drain();
  EXPECT_FALSE(server->IsIdle());
  health = Ask(server->port(), GetText("/health"));
  EXPECT_EQ(health.status, 503);
  EXPECT_EQ(health.json()["status"], "draining");
  EXPECT_EQ(Ask(server->port(), LongRequest()).status, 503);
  const TestResponse whole = running.Read();
  EXPECT_EQ(whole.events().back(), "[DONE]");
  EXPECT_TRUE(running.IsAtEnd());
  EXPECT_TRUE(Becomes([&] { return server->IsIdle(); }));
}

TEST(ServerLoad, StoppingCutsWhatRuns) {
  auto server = StartServer();
  TestClient streaming(server->port());
  streaming.Send(LongRequest(R"(, "stream": true)"));
  TestClient waiting(server->port());
  waiting.Send(LongRequest());
  EXPECT_TRUE(Becomes([&] { return server->stats().num_running == 2; }));
  server.reset();
  EXPECT_EQ(waiting.Read().status, 0);
}

TEST(ServerLoad, MetricsCountWhatWasDone) {
  const auto server = StartServer();
  const int port = server->port();
  for (int i = 0; i < 2; ++i) {
    Ask(port, PostText("/v1/completions",
                       R"({"prompt": [1, 2, 3], "max_tokens": 5, "ignore_eos": true, "n": 2})"));
  }
  EXPECT_TRUE(Becomes([&] { return IsEmpty(*server); }));
  EXPECT_EQ(Metric(port, "gdn:generation_tokens_total"), 20);
  EXPECT_EQ(Metric(port, "gdn:prompt_tokens_total"), 12);
  EXPECT_EQ(Metric(port, "gdn:time_to_first_token_seconds_count"), 4);
  EXPECT_EQ(Metric(port, "gdn:inter_token_latency_seconds_count"), 16);
  EXPECT_EQ(Metric(port, "gdn:e2e_request_latency_seconds_count"), 4);
  EXPECT_EQ(Metric(port, "gdn:kv_cache_usage_perc"), 0);
  EXPECT_GT(Metric(port, "process_resident_memory_bytes"), 1e6);
  EXPECT_GT(Metric(port, "process_open_fds"), 3);
  EXPECT_NE(
      Ask(port, GetText("/metrics")).body.find("finished_reason=\"length\",model_name=\"tiny\"} 4"),
      std::string::npos);
}

TEST(ServerLoad, AWarmSessionIsAsNew) {
  const auto session = LoadTiny(2, 8);
  ASSERT_TRUE(WarmUp(*session).ok());
  EXPECT_FALSE(session->model().kernels().entries().empty());
  EXPECT_EQ(session->stats().num_running, 0);
  EXPECT_EQ(session->stats().num_snapshots, 0);
}

}  // namespace
}  // namespace gdn
