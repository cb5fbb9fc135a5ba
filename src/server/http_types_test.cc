// SPDX-License-Identifier: Apache-2.0
#include "server/http_types.h"

#include <gtest/gtest.h>

#include "server/metrics.h"

namespace gdn {
namespace {

TEST(HttpTypes, AnyConnectionHeaderMayClose) {
  const auto closes = [](std::vector<std::pair<std::string, std::string>> headers) {
    return HttpRequest{.headers = std::move(headers)}.WantsClose();
  };
  EXPECT_TRUE(closes({{"connection", "Close"}}));
  EXPECT_TRUE(closes({{"Connection", "x"}, {"Connection", "keep-alive , close"}}));
  EXPECT_FALSE(closes({{"Connection", "closed,"}, {"X", "close"}, {"Connection", ""}}));
}

TEST(HttpTypes, HeadersAreFoundWhateverTheirCase) {
  const HttpRequest request{.target = "/a/b?c#d", .headers = {{"content-TYPE", "x"}}};
  EXPECT_EQ(request.Header("Content-Type"), "x");
  EXPECT_EQ(request.Header("Content"), "");
  EXPECT_EQ(request.path(), "/a/b");
}

TEST(HttpTypes, TargetsMayNameTheServer) {
  const auto path = [](const char* target) {
    return std::string(HttpRequest{.target = target}.path());
  };
  EXPECT_EQ(path("http://localhost:8000/health?x"), "/health");
  EXPECT_EQ(path("http://localhost"), "/");
}

TEST(HttpTypes, HeadsSayHowTheBodyEnds) {
  const HttpResponse response{.body = "abc", .headers = {{"Allow", "GET"}}};
  const std::string whole = FormatHead(response, BodyFraming::kLength, /*keep_alive=*/true);
  EXPECT_TRUE(whole.starts_with("HTTP/1.1 200 OK\r\nDate: "));
  EXPECT_NE(whole.find("\r\nAllow: GET\r\nContent-Length: 3\r\n\r\n"), std::string::npos);
  const std::string chunked = FormatHead(response, BodyFraming::kChunked, false);
  EXPECT_NE(chunked.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(chunked.ends_with("Transfer-Encoding: chunked\r\n\r\n"));
  EXPECT_EQ(
      FormatHead({.status = 204, .content_type = ""}, BodyFraming::kLength, true).find("Content-"),
      std::string::npos);
}

TEST(HttpTypes, Chunks) {
  EXPECT_EQ(FormatChunk(std::string(26, 'x')), "1a\r\n" + std::string(26, 'x') + "\r\n");
  EXPECT_EQ(FormatChunk(""), "");
}

TEST(HttpTypes, PercentDecoding) {
  EXPECT_EQ(PercentDecoded("a%2Fb%20"), "a/b ");
  EXPECT_EQ(PercentDecoded("a%2"), std::nullopt);
  EXPECT_EQ(PercentDecoded("%zz"), std::nullopt);
  EXPECT_EQ(PercentDecoded("%+1"), std::nullopt);
}

TEST(Metrics, FollowTheEngine) {
  Metrics metrics("a\"b");
  const RunLimits limits{.num_blocks = 11};
  EngineStats stats{.num_running = 3, .num_free_blocks = 5, .num_new_tokens = 7};
  EXPECT_DOUBLE_EQ(CacheUsage(stats, limits), 0.5);
  metrics.Text(stats, &limits, 0);
  stats.num_new_tokens = 9;
  metrics.ObserveEnd(FinishReason::kCancelled, 1);
  const std::string text = metrics.Text(stats, &limits, 2);
  const std::string label = "{model_name=\"a\\\"b\"} ";
  for (const std::string& line :
       {"gdn:num_requests_running" + label + "3\n", "gdn:kv_cache_usage_perc" + label + "0.5\n",
        "gdn:generation_tokens_total" + label + "9\n", "gdn:open_connections" + label + "2\n",
        "gdn:request_success_total{finished_reason=\"abort\",model_name=\"a\\\"b\"} 1\n" +
            std::string(),
        std::string("# TYPE gdn:time_to_first_token_seconds histogram\n")}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace
}  // namespace gdn
