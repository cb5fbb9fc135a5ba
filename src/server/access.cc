// SPDX-License-Identifier: Apache-2.0
#include "server/access.h"

#include <algorithm>
#include <array>

#include "base/str.h"

namespace gdn {
namespace {

struct Route {
  const char* path;
  Endpoint endpoint;
  bool is_post;
  bool is_open;  // needs no key
};

constexpr std::array kRoutes = {
    Route{"/v1/chat/completions", Endpoint::kChatCompletions, true, false},
    Route{"/v1/completions", Endpoint::kCompletions, true, false},
    Route{"/v1/models", Endpoint::kModels, false, false},
    Route{"/v1/models/", Endpoint::kModel, false, false},
    Route{"/tokenize", Endpoint::kTokenize, true, false},
    Route{"/detokenize", Endpoint::kDetokenize, true, false},
    Route{"/reset_prefix_cache", Endpoint::kResetPrefixCache, true, false},
    Route{"/metrics", Endpoint::kMetrics, false, false},
    Route{"/health", Endpoint::kHealth, false, true},
    Route{"/version", Endpoint::kVersion, false, true},
    Route{"/openapi.json", Endpoint::kOpenApi, false, true},
    Route{"/", Endpoint::kPage, false, true},
};

const Route* RouteOf(std::string_view path) {
  const auto it = std::ranges::find_if(kRoutes, [path](const Route& route) {
    if (route.endpoint == Endpoint::kModel) return path.size() > 11 && path.starts_with(route.path);
    return path == route.path;
  });
  return it == kRoutes.end() ? nullptr : &*it;
}

std::string Lowercase(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

// Without the port; "" where what stands behind the name is none.
std::string HostName(std::string_view host) {
  const size_t end = host.starts_with('[') ? host.find(']') + 1 : host.find(':');
  const std::string_view port = end < host.size() ? host.substr(end) : std::string_view();
  const bool is_port =
      port.starts_with(':') && port.find_first_not_of("0123456789", 1) == std::string_view::npos;
  return port.empty() || is_port ? Lowercase(host.substr(0, end)) : "";
}

bool IsHostAllowed(std::string_view host, const AccessRules& rules) {
  constexpr std::array kLoopback = {"localhost", "127.0.0.1", "[::1]"};
  const std::string name = HostName(host);
  return !rules.checks_host || std::ranges::find(kLoopback, name) != kLoopback.end() ||
         std::ranges::any_of(
             rules.hosts, [&name](const std::string& other) { return Lowercase(other) == name; });
}

bool IsCorsOrigin(std::string_view origin, const AccessRules& rules) {
  return std::ranges::any_of(rules.cors_origins, [origin](const std::string& allowed) {
    return allowed == "*" || allowed == origin;
  });
}

// A page of another site may not act here, whatever it can read of the answer.
bool IsForeign(const HttpRequest& head, const AccessRules& rules) {
  const std::string_view origin = head.Header("Origin");
  if (origin.empty() || IsCorsOrigin(origin, rules)) return false;
  const std::string_view host = head.Header("Host");
  return origin != StrCat("http://", host) && origin != StrCat("https://", host);
}

bool IsJson(std::string_view content_type) {
  const std::string type = Lowercase(content_type.substr(0, content_type.find(';')));
  return type.substr(0, type.find_last_not_of(' ') + 1) == "application/json";
}

std::optional<ApiError> CheckMethod(const HttpRequest& head, const Route& route,
                                    std::string& allow) {
  const bool is_get = head.method == "GET" || head.method == "HEAD";
  if (route.is_post ? head.method == "POST" : is_get) return std::nullopt;
  allow = route.is_post ? "POST" : "GET, HEAD";
  return ApiError{.status = 405,
                  .message = StrCat("method is ", Quoted(head.method), ", want ", allow)};
}

}  // namespace

std::optional<Endpoint> EndpointOf(std::string_view path) {
  const Route* route = RouteOf(path);
  return route == nullptr ? std::nullopt : std::optional(route->endpoint);
}

std::optional<ApiError> CheckAccess(const HttpRequest& head, const AccessRules& rules,
                                    std::string& allow) {
  const std::string_view host = head.Header("Host");
  if (host.empty() && head.is_http_1_1) {
    return ApiError{.status = 400, .message = "the header Host is missing"};
  }
  if (!host.empty() && !IsHostAllowed(host, rules)) {
    return ApiError{.status = 421,
                    .message = StrCat("host is ", Quoted(host),
                                      ", want localhost, 127.0.0.1, [::1] or one of --allow-host")};
  }
  const Route* route = RouteOf(head.path());
  if (route == nullptr) {
    return ApiError{.status = 404, .message = StrCat("there is no ", Quoted(head.path()))};
  }
  if (auto error = CheckMethod(head, *route, allow)) return error;
  if (!route->is_post && head.has_body) {
    return ApiError{
        .status = 400,
        .message = StrCat(head.method, " ", head.path(), " comes with a body, want none")};
  }
  if (route->is_post && IsForeign(head, rules)) {
    return ApiError{.status = 403,
                    .message = StrCat("origin is ", Quoted(head.Header("Origin")),
                                      ", want this server's own or one of --cors-origin")};
  }
  if (!route->is_open && !rules.keys.Allow(head.Header("Authorization"))) {
    return ApiError{.status = 401,
                    .message =
                        "the API key is missing or wrong: want the header "
                        "\"Authorization: Bearer KEY\"",
                    .code = "invalid_api_key"};
  }
  // A form of another site cannot send this type unasked. Where there is no body, none is needed.
  const bool wants_body = route->is_post && route->endpoint != Endpoint::kResetPrefixCache;
  if ((wants_body || (route->is_post && head.has_body)) && !IsJson(head.Header("Content-Type"))) {
    return ApiError{.status = 415,
                    .message = StrCat("Content-Type is ", Quoted(head.Header("Content-Type")),
                                      ", want application/json")};
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> CorsHeaders(const HttpRequest& request,
                                                             const AccessRules& rules) {
  const std::string_view origin = request.Header("Origin");
  if (origin.empty() || !IsCorsOrigin(origin, rules)) return {};
  return {{"Access-Control-Allow-Origin", std::string(origin)}, {"Vary", "Origin"}};
}

}  // namespace gdn
