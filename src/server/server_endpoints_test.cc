// SPDX-License-Identifier: Apache-2.0
// Every endpoint but those that generate text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/server_testing.h"

namespace gdn {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

TEST(ServerEndpoints, SayWhatRunsHere) {
  const auto server = StartServer();
  const int port = server->port();
  const Json models = Ask(port, GetText("/v1/models")).json();
  EXPECT_EQ(models["object"], "list");
  EXPECT_EQ(models["data"][0]["id"], "tiny");
  EXPECT_EQ(models["data"][0]["max_model_len"], 512);
  EXPECT_EQ(Ask(port, GetText("/v1/models/tiny")).json(), models["data"][0]);
  const TestResponse other = Ask(port, GetText("/v1/models/other"));
  EXPECT_EQ(other.status, 404);
  EXPECT_EQ(other.json()["error"]["code"], "model_not_found");
  EXPECT_THAT(Ask(port, GetText("/version")).json()["version"].get<std::string>(),
              HasSubstr("gdn "));
  const TestResponse page = Ask(port, GetText("/"));
  EXPECT_TRUE(page.HasHeader("Content-Type: text/html"));
  EXPECT_TRUE(page.HasHeader("Content-Security-Policy: default-src 'none'"));
  EXPECT_THAT(page.body, HasSubstr("<html"));
}

TEST(ServerEndpoints, TokensOfPromptsAndConversations) {
  const auto server = StartServer();
  const int port = server->port();
  const Json prompt = Ask(port, PostText("/tokenize", R"({"prompt": "And the king",
                                                         "return_token_strs": true})"))
                          .json();
  EXPECT_EQ(prompt["count"], prompt["tokens"].size());
  std::string text;
  for (const Json& token : prompt["token_strs"]) text += token;
  EXPECT_EQ(text, "And the king");
  const std::string messages = R"("messages": [{"role": "user", "content": "hello"}])";
  const Json chat = Ask(port, PostText("/tokenize", "{" + messages + "}")).json();
  const Json answer =
      Ask(port, PostText("/v1/chat/completions", "{" + messages + R"(, "max_tokens": 1})")).json();
  EXPECT_EQ(chat["count"], answer["usage"]["prompt_tokens"]);
  EXPECT_EQ(Ask(port, PostText("/detokenize", R"({"tokens": [2048000]})")).status, 400);
}

TEST(ServerEndpoints, AreDescribed) {
  const auto server = StartServer();
  const Json description = Ask(server->port(), GetText("/openapi.json")).json();
  EXPECT_EQ(description["openapi"], "3.1.0");
  for (const auto& [path, operations] : description["paths"].items()) {
    const std::string real = path == "/v1/models/{id}" ? "/v1/models/tiny" : path;
    const bool is_post = operations.contains("post");
    EXPECT_TRUE(EndpointOf(real).has_value()) << path;
    // The method that the description does not have is not allowed.
    const TestResponse response =
        Ask(server->port(), is_post ? GetText(real) : PostText(real, "{}"));
    EXPECT_EQ(response.status, 405) << path;
    EXPECT_TRUE(response.HasHeader(is_post ? "Allow: POST\r\n" : "Allow: GET, HEAD\r\n")) << path;
  }
  EXPECT_EQ(description["paths"].size(), 12U);
  // A reference that leads nowhere would make every client's generator fail.
  const Json flat = description.flatten();
  for (const auto& [key, value] : flat.items()) {
    if (!key.ends_with("/$ref")) continue;
    const std::string target = value.get<std::string>().substr(1);
    EXPECT_TRUE(description.contains(Json::json_pointer(target))) << target;
  }
}

TEST(ServerEndpoints, RefuseStrangers) {
  ServerOptions options;
  options.service.access.keys = ApiKeys({"secret"});
  options.service.access.cors_origins = {"https://example.org"};
  const auto server = StartServer(options);
  const int port = server->port();
  const TestResponse refused = Ask(port, GetText("/v1/models"));
  EXPECT_EQ(refused.status, 401);
  EXPECT_TRUE(refused.HasHeader("WWW-Authenticate: Bearer"));
  EXPECT_EQ(refused.json()["error"]["code"], "invalid_api_key");
  const TestResponse models =
      Ask(port,
          GetText("/v1/models", "Authorization: Bearer secret\r\nOrigin: https://example.org\r\n"));
  EXPECT_EQ(models.status, 200);
  EXPECT_TRUE(models.HasHeader("Access-Control-Allow-Origin: https://example.org\r\n"));
  const TestResponse preflight = Ask(port,
                                     "OPTIONS /v1/completions HTTP/1.1\r\nHost: localhost\r\n"
                                     "Origin: https://example.org\r\n\r\n");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_TRUE(preflight.HasHeader("Access-Control-Allow-Headers: Authorization, Content-Type"));
  EXPECT_EQ(Ask(port, "GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 421);
  EXPECT_EQ(Ask(port, PostText("/tokenize", "{}", "Origin: http://evil.example\r\n")).status, 403);
}

TEST(ServerEndpoints, BadBodiesAreErrorsOfTheClient) {
  const auto server = StartServer();
  const int port = server->port();
  for (const char* path : {"/v1/chat/completions", "/v1/completions", "/tokenize", "/detokenize"}) {
    for (const std::string& body :
         {std::string(), std::string("{"), std::string("[]"), std::string(100'000, '['),
          std::string("\xFF\0\x01", 3), std::string(R"({"messages": [5], "prompt": {}})")}) {
      const TestResponse response = Ask(port, PostText(path, body));
      EXPECT_EQ(response.status, 400) << path << body.substr(0, 20);
      EXPECT_FALSE(response.error().empty());
    }
  }
  const TestResponse form =
      Ask(port, "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(form.status, 415);
  EXPECT_EQ(Ask(port, GetText("/nothing")).status, 404);
}

}  // namespace
}  // namespace gdn
