// SPDX-License-Identifier: Apache-2.0
// What a client may cost: sizes, numbers and time.
#include <gmock/gmock.h>

#include <thread>

#include "server/http_server_testing.h"

namespace gdn {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST_F(HttpServerTest, LimitsHaveTheirOwnErrors) {
  Start({.max_body_bytes = 100, .max_header_bytes = 300});
  const auto status = [&](std::string_view request) {
    TestClient client(port());
    client.Send(request);
    const TestResponse response = client.Read();
    EXPECT_TRUE(client.IsAtEnd());
    EXPECT_FALSE(response.error().empty());
    return response.status;
  };
  EXPECT_EQ(status(PostText("/x", std::string(200'000, 'a'))), 413);
  EXPECT_EQ(status("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n" +
                   std::string(4095, 'a')),
            413);
  EXPECT_EQ(status(GetText("/x", "A: " + std::string(5000, 'a') + "\r\n")), 431);
  EXPECT_EQ(status("hello\r\n\r\n"), 400);
  EXPECT_EQ(status("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n"), 400);
}

// Each a way around a limit that counts only what a parser has not taken yet.
TEST_F(HttpServerTest, HeadersAreBoundedHoweverTheyAreCut) {
  Start({.max_header_bytes = 1000});
  TestClient client(port());
  client.Send("GET /x HTTP/1.1\r\na");
  for (int i = 0; i < 1000 && !client.HasInput(); ++i) {
    client.Send(":\r\na");
    std::this_thread::sleep_for(milliseconds(1));
  }
  EXPECT_EQ(client.Read().status, 431);
}

TEST_F(HttpServerTest, WhatFramesABodyIsBounded) {
  Start({.max_header_bytes = 1000});
  const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& frame : {std::string("1;x="), std::string("1\r\na\r\n0\r\nb:")}) {
    TestClient client(port());
    client.Send(head + frame + std::string(5000, 'a'));
    EXPECT_EQ(client.Read().status, 431);
  }
}

TEST_F(HttpServerTest, ABodyMayEndByteByByte) {
  Start();
  const std::string request =
      "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n";
  TestClient client(port());
  for (const char byte : request) {
    client.Send({&byte, 1});
    std::this_thread::sleep_for(milliseconds(2));
  }
  EXPECT_EQ(client.Read().body, "POST /x ab");
}

TEST_F(HttpServerTest, SlowRequestsEnd) {
  Start({.request_timeout = milliseconds(100), .idle_timeout = milliseconds(100)});
  TestClient slow(port());
  slow.Send("GET / HTTP/1.1\r\nHost:");
  EXPECT_EQ(slow.Read().status, 408);
  TestClient idle(port());
  idle.Send(GetText("/x"));
  EXPECT_EQ(idle.Read().status, 200);
  EXPECT_TRUE(idle.IsAtEnd());
  TestClient silent(port());
  EXPECT_TRUE(silent.IsAtEnd());
}

TEST_F(HttpServerTest, ManyConnectionsAreRefused) {
  Start({.max_connections = 2});
  TestClient first(port());
  TestClient second(port());
  first.Send(GetText("/x"));
  second.Send(GetText("/x"));
  EXPECT_EQ(first.Read().status, 200);
  EXPECT_EQ(second.Read().status, 200);
  TestClient third(port());
  const TestResponse refused = third.Read();
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.error(), HasSubstr("too many connections"));
}

TEST_F(HttpServerTest, BodiesTogetherAreBounded) {
  Start({.max_body_bytes = 100, .max_bodies_bytes = 150, .small_body_bytes = 20});
  TestClient first(port());
  first.Send(PostText("/hang", std::string(100, 'a')));
  while (server_->num_unanswered() == 0) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(Ask(port(), PostText("/x", std::string(100, 'a'))).status, 503);
  EXPECT_EQ(Ask(port(), PostText("/x", std::string(50, 'a'))).status, 200);
  TestClient second(port());
  second.Send(PostText("/hang", std::string(50, 'a')));
  while (server_->num_unanswered() == 1) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_EQ(Ask(port(), PostText("/x", std::string(21, 'a'))).status, 503);
  EXPECT_EQ(Ask(port(), PostText("/x", std::string(20, 'a'))).status, 200) << "a small one";
}

// What is only said to come takes nothing from others.
TEST_F(HttpServerTest, BodiesThatDoNotComeTakeNoPlace) {
  Start({.max_body_bytes = 100, .max_bodies_bytes = 150, .small_body_bytes = 20});
  std::vector<std::unique_ptr<TestClient>> clients;
  for (const char* framing : {"Content-Length: 100", "Transfer-Encoding: chunked"}) {
    for (int i = 0; i < 5; ++i) {
      clients.push_back(std::make_unique<TestClient>(port()));
      clients.back()->Send(
          StrCat("POST /x HTTP/1.1\r\nHost: a\r\n", framing, "\r\nExpect: 100-Continue\r\n\r\n"));
      EXPECT_EQ(clients.back()->Read().status, 100);
    }
  }
  EXPECT_EQ(Ask(port(), PostText("/x", std::string(100, 'a'))).status, 200);
}

TEST_F(HttpServerTest, AClientThatSendsFarAheadIsLeft) {
  Start();
  TestClient client(port());
  client.Send(GetText("/hang") + std::string(size_t{200} << 10, 'G'));
  client.Close();
  for (int i = 0; i < 2000 && handler_.num_closed == 0; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(handler_.num_closed, 1);
}

TEST_F(HttpServerTest, HandlersLearnThatTheClientHasGone) {
  Start();
  {
    TestClient client(port());
    client.Send(GetText("/hang"));
    while (server_->num_unanswered() == 0) std::this_thread::sleep_for(milliseconds(1));
  }
  for (int i = 0; i < 2000 && handler_.num_closed == 0; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(handler_.num_closed, 1);
  EXPECT_EQ(server_->num_unanswered(), 0);
}

TEST_F(HttpServerTest, AClientThatReadsNothingIsLeft) {
  Start({.max_body_bytes = size_t{64} << 20, .write_timeout = milliseconds(200)});
  TestClient client(port());
  client.Send(PostText("/x", std::string(size_t{32} << 20, 'a')));
  const auto start = std::chrono::steady_clock::now();
  while (server_->num_unanswered() == 0) std::this_thread::sleep_for(milliseconds(1));
  while (server_->num_unanswered() > 0) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(200));
  EXPECT_LT(client.Read().body.size(), size_t{32} << 20);
}

TEST_F(HttpServerTest, AClientThatIsFarBehindIsLeft) {
  Start({.max_unread_bytes = size_t{1} << 20});
  TestClient client(port());
  client.Send(GetText("/flood"));
  for (int i = 0; i < 2000 && handler_.num_closed == 0; ++i) {
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_EQ(handler_.num_closed, 1);
  EXPECT_EQ(server_->num_unanswered(), 0);
}

TEST_F(HttpServerTest, AnAnswerThatIsGivenUpEndsTheConnection) {
  Start();
  TestClient client(port());
  client.Send(GetText("/drop"));
  EXPECT_EQ(client.Read().status, 0);
}

}  // namespace
}  // namespace gdn
