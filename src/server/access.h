// SPDX-License-Identifier: Apache-2.0
// Which requests are looked at: by host, origin, path, method, key and type of body.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/api_error.h"
#include "server/api_keys.h"
#include "server/http_types.h"

namespace gdn {

struct AccessRules {
  ApiKeys keys;
  // Only these and the loopback's own names may be what a client calls the server: a page of
  // another site may have its name lead here. Any where it is false.
  bool checks_host = true;
  std::vector<std::string> hosts;
  std::vector<std::string> cors_origins;  // pages that may read answers; "*": all
};

enum class Endpoint {
  kChatCompletions,
  kCompletions,
  kModels,
  kModel,  // "/v1/models/{id}"
  kTokenize,
  kDetokenize,
  kResetPrefixCache,
  kHealth,
  kMetrics,
  kVersion,
  kOpenApi,
  kPage,
};

// Nothing for a path that is not there.
std::optional<Endpoint> EndpointOf(std::string_view path);

// Why the request is refused before its body is read. allow: where that is the method, those that
// the endpoint has, for the header Allow.
std::optional<ApiError> CheckAccess(const HttpRequest& head, const AccessRules& rules,
                                    std::string& allow);

// The headers that let the page of another site read an answer; none where it may not.
std::vector<std::pair<std::string, std::string>> CorsHeaders(const HttpRequest& request,
                                                             const AccessRules& rules);

}  // namespace gdn
