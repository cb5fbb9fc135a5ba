// SPDX-License-Identifier: Apache-2.0
#include "server/access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gdn {
namespace {

using testing::HasSubstr;

HttpRequest Post(const char* target) {
  return {.method = "POST",
          .target = target,
          .headers = {{"host", "localhost:8000"}, {"content-type", "application/json"}},
          .has_body = true};
}

HttpRequest Get(const char* target) {
  return {.method = "GET", .target = target, .headers = {{"Host", "127.0.0.1"}}};
}

int StatusOf(const HttpRequest& head, const AccessRules& rules = {}) {
  std::string allow;
  const auto error = CheckAccess(head, rules, allow);
  EXPECT_EQ(!allow.empty(), error.has_value() && error->status == 405);
  return error.has_value() ? error->status : 200;
}

TEST(Access, PathsAndMethods) {
  EXPECT_EQ(StatusOf(Post("/v1/chat/completions")), 200);
  EXPECT_EQ(StatusOf(Get("/v1/models/org/name?x=1")), 200);
  EXPECT_EQ(StatusOf(Get("/v1/models/")), 404);
  EXPECT_EQ(StatusOf(Get("/v1/model")), 404);
  EXPECT_EQ(StatusOf(Get("/v1/completions")), 405);
  EXPECT_EQ(StatusOf(Post("/health")), 405);
  HttpRequest head = Get("/health");
  head.method = "HEAD";
  EXPECT_EQ(StatusOf(head), 200);
  head.method = "OPTIONS";
  EXPECT_EQ(StatusOf(head), 405);
}

TEST(Access, WhatIsOnlyReadTakesNoBody) {
  HttpRequest request = Get("/health");
  request.has_body = true;
  EXPECT_EQ(StatusOf(request), 400);
  EXPECT_EQ(StatusOf(Get("/health")), 200);
}

TEST(Access, KeysAreNeededButForWhatSaysNothing) {
  const AccessRules rules{.keys = ApiKeys({"secret"})};
  HttpRequest request = Post("/v1/completions");
  EXPECT_EQ(StatusOf(request, rules), 401);
  request.headers.emplace_back("Authorization", "Bearer secret");
  EXPECT_EQ(StatusOf(request, rules), 200);
  EXPECT_EQ(StatusOf(Get("/metrics"), rules), 401);
  EXPECT_EQ(StatusOf(Get("/v1/models"), rules), 401);
  for (const char* path : {"/", "/health", "/version", "/openapi.json"}) {
    EXPECT_EQ(StatusOf(Get(path), rules), 200) << path;
  }
}

TEST(Access, HostsOfOtherSitesAreRefused) {
  for (const char* host : {"localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000", "[::1]"}) {
    HttpRequest request = Get("/health");
    request.headers = {{"Host", host}};
    EXPECT_EQ(StatusOf(request), 200) << host;
  }
  HttpRequest request = Get("/health");
  for (const char* host : {"[::1]evil.example", "localhost:evil", "[::1", "localhost:80:80"}) {
    request.headers = {{"Host", host}};
    EXPECT_EQ(StatusOf(request), 421) << host;
  }
  request.headers = {{"Host", "evil.example:8000"}};
  EXPECT_EQ(StatusOf(request), 421);
  EXPECT_EQ(StatusOf(request, {.hosts = {"Evil.example"}}), 200);
  EXPECT_EQ(StatusOf(request, {.checks_host = false}), 200);
  request.headers.clear();
  EXPECT_EQ(StatusOf(request), 400);
  request.is_http_1_1 = false;
  EXPECT_EQ(StatusOf(request), 200);
}

TEST(Access, PagesOfOtherSitesMayNotAct) {
  HttpRequest request = Post("/reset_prefix_cache");
  request.headers.emplace_back("Origin", "http://localhost:8000");
  EXPECT_EQ(StatusOf(request), 200);
  EXPECT_TRUE(CorsHeaders(request, {}).empty());
  request.headers.back().second = "http://evil.example";
  EXPECT_EQ(StatusOf(request), 403);
  const AccessRules rules{.cors_origins = {"http://evil.example"}};
  EXPECT_EQ(StatusOf(request, rules), 200);
  EXPECT_EQ(CorsHeaders(request, rules)[0].second, "http://evil.example");
}

TEST(Access, FormsAreNoJson) {
  HttpRequest request = Post("/tokenize");
  for (const char* type : {"application/json; charset=utf-8", "Application/JSON"}) {
    request.headers[1].second = type;
    EXPECT_EQ(StatusOf(request), 200) << type;
  }
  for (const char* type : {"text/plain", "", "application/jsonx"}) {
    request.headers[1].second = type;
    EXPECT_EQ(StatusOf(request), 415) << type;
  }
  HttpRequest reset = Post("/reset_prefix_cache");
  reset.headers.pop_back();
  EXPECT_EQ(StatusOf(reset), 415);
  reset.has_body = false;
  EXPECT_EQ(StatusOf(reset), 200);
}

TEST(ApiKeys, WantTheWholeKey) {
  const ApiKeys keys({"abc", "longer key"});
  EXPECT_TRUE(keys.Allow("Bearer abc"));
  EXPECT_TRUE(keys.Allow("bearer  abc "));
  EXPECT_TRUE(keys.Allow("Bearer longer key"));
  for (const char* wrong : {"", "abc", "Bearer", "Bearer ", "Bearer ab", "Bearer abcabc",
                            "Bearer abd", "Basic abc", "Bearer abca"}) {
    EXPECT_FALSE(keys.Allow(wrong)) << wrong;
  }
  EXPECT_TRUE(ApiKeys().Allow(""));
}

TEST(ApiKeys, ComeFromLines) {
  const auto keys = ParseApiKeys("# mine\nabc\r\n\n  def  \n", "keys");
  ASSERT_TRUE(keys.ok());
  EXPECT_EQ(*keys, (std::vector<std::string>{"abc", "def"}));
  EXPECT_THAT(ParseApiKeys("a b\n", "keys").status().message(), HasSubstr("keys: line 1"));
  EXPECT_THAT(ParseApiKeys("#\n", "keys").status().message(), HasSubstr("keys: has no key"));
}

}  // namespace
}  // namespace gdn
