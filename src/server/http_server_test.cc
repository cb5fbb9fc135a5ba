// SPDX-License-Identifier: Apache-2.0
// HTTP over real sockets: what clients may send, and what they get.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "server/http_server_testing.h"

namespace gdn {
namespace {

using testing::HasSubstr;

TEST_F(HttpServerTest, ConnectionsAreKept) {
  Start();
  TestClient client(port());
  for (int i = 0; i < 3; ++i) {
    client.Send(PostText("/x?y", "body"));
    const TestResponse response = client.Read();
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "POST /x?y body");
    EXPECT_TRUE(response.HasHeader("Connection: keep-alive"));
  }
  client.Send(GetText("/z", "Connection: close\r\n"));
  EXPECT_EQ(client.Read().body, "GET /z ");
  EXPECT_TRUE(client.IsAtEnd());
}

TEST_F(HttpServerTest, RequestsSentAheadAreAnsweredInOrder) {
  Start();
  TestClient client(port());
  std::string requests;
  for (int i = 0; i < 20; ++i) requests += PostText(StrCat("/", i), "b");
  client.Send(requests + GetText("/no") + GetText("/stream") + GetText("/last"));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.Read().body, StrCat("POST /", i, " b"));
  EXPECT_EQ(client.Read().status, 404);
  EXPECT_EQ(client.Read().body, "one two");
  EXPECT_EQ(client.Read().body, "GET /last ");
}

// Wherever in the answer to one the next is read.
TEST_F(HttpServerTest, RequestsThatComeDuringAnAnswerStayWhole) {
  Start();
  TestClient client(port());
  for (int i = 0; i < 2000; ++i) {
    client.Send(PostText(StrCat("/a", i), "body of a"));
    client.Send(PostText(StrCat("/b", i), "b"));
    ASSERT_EQ(client.Read().body, StrCat("POST /a", i, " body of a"));
    ASSERT_EQ(client.Read().body, StrCat("POST /b", i, " b"));
  }
}

// A server whose count of them is not 0 does not know when it may stop.
TEST_F(HttpServerTest, ClientsThatCloseAtOnceLeaveNothingUnanswered) {
  Start();
  for (int i = 0; i < 500; ++i) {
    TestClient client(port());
    client.Send(GetText("/x", "Connection: close\r\n"));
    if (i % 3 == 1) client.ShutdownWrite();
    if (i % 3 == 0) {
      EXPECT_EQ(client.Read().body, "GET /x ");
    }
  }
  while (server_->open_connections() > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(server_->num_unanswered(), 0);
}

// Its end is seen whenever it comes: before, in or behind an answer after which the connection is
// kept.
TEST_F(HttpServerTest, AConnectionEndsWithItsClient) {
  Start({.idle_timeout = std::chrono::seconds(600)});
  for (int i = 0; i < 600; ++i) {
    TestClient client(port());
    client.Send(i % 2 == 0 ? GetText("/x") : PostText("/x", "b"));
    if (i % 3 == 0) client.ShutdownWrite();
    if (i % 3 == 1) {
      EXPECT_EQ(client.Read().status, 200);
    }
  }
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (server_->open_connections() > 0 && std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(server_->open_connections(), 0);
}

// Else a proxy and this server could see different requests in the same bytes.
TEST_F(HttpServerTest, WhereARequestEndsIsNeverInDoubt) {
  Start();
  const auto post = [this](const std::string& headers) {
    TestClient client(port());
    client.Send(StrCat("POST /x HTTP/1.1\r\nHost: localhost\r\n", headers,
                       "\r\n0\r\n\r\nGET /inner HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    return client.Read().status;
  };
  EXPECT_EQ(post("Transfer-Encoding: chunked\r\n"), 200);
  EXPECT_EQ(post("Transfer-Encoding: xchunked\r\n"), 501);
  EXPECT_EQ(post("Transfer-Encoding: gzip, chunked\r\n"), 501);
  EXPECT_EQ(post("Transfer-Encoding: chunked, chunked\r\n"), 501);
  EXPECT_EQ(post("Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n"), 501);
  EXPECT_EQ(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400);
  EXPECT_EQ(post("Content-Length: 5\r\nContent-Length: 5\r\n"), 400);
  EXPECT_EQ(post("Content-Length: 5\r\nHost: other\r\n"), 400);
  EXPECT_EQ(post("Content-Length: 5\r\nContent-Encoding: gzip\r\n"), 415);
}

TEST_F(HttpServerTest, EmptyLinesBeforeARequestArePassedOver) {
  Start();
  TestClient client(port());
  client.Send(StrCat("\r\n", GetText("/a"), "\r\n\r\n", GetText("/b")));
  EXPECT_EQ(client.Read().body, "GET /a ");
  EXPECT_EQ(client.Read().body, "GET /b ");
}

TEST_F(HttpServerTest, BytesMayComeOneByOne) {
  Start();
  TestClient client(port());
  const std::string chunked =
      "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n"
      "0\r\n\r\n";
  for (const char byte : PostText("/a", "xyz") + chunked) client.Send({&byte, 1});
  EXPECT_EQ(client.Read().body, "POST /a xyz");
  EXPECT_EQ(client.Read().body, "POST /c abcd");
}

TEST_F(HttpServerTest, HeadHasNoBody) {
  Start();
  TestClient client(port());
  client.Send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n" + GetText("/y"));
  EXPECT_TRUE(client.Read(/*is_head=*/true).HasHeader("Content-Length: 8"));
  EXPECT_EQ(client.Read().body, "GET /y ");
}

TEST_F(HttpServerTest, OldClientsGetABodyThatEndsWithTheConnection) {
  Start();
  TestClient client(port());
  client.Send("GET /stream HTTP/1.0\r\n\r\n");
  const TestResponse response = client.Read();
  EXPECT_FALSE(response.HasHeader("Transfer-Encoding"));
  EXPECT_EQ(response.body, "one two");
}

TEST_F(HttpServerTest, LargeBodiesWaitForLeave) {
  Start();
  TestClient client(port());
  client.Send("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.Read().status, 100);
  client.Send("abc");
  EXPECT_EQ(client.Read().body, "POST /x abc");
}

TEST(HttpServer, SaysWhyItCannotListen) {
  Echo handler;
  EXPECT_THAT(HttpServer::Start({.host = "example.org"}, handler).status().message(),
              HasSubstr("host is \"example.org\""));
  const auto first = HttpServer::Start({.port = 0}, handler);
  ASSERT_TRUE(first.ok());
  EXPECT_THAT(HttpServer::Start({.port = (*first)->port()}, handler).status().message(),
              HasSubstr("cannot listen on 127.0.0.1 port"));
  EXPECT_TRUE(*IsLoopback("localhost"));
  EXPECT_TRUE(*IsLoopback("::1"));
  EXPECT_FALSE(*IsLoopback("0.0.0.0"));
}

}  // namespace
}  // namespace gdn
