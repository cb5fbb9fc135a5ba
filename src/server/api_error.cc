// SPDX-License-Identifier: Apache-2.0
#include "server/api_error.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "io/json_text.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

const char* TypeOf(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    case 503:
      return "service_unavailable_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

Json TextOrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

ApiError ApiErrorOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kUnsupported:
      return {.status = 400, .message = status.message()};
    case StatusCode::kOutOfMemory:
    case StatusCode::kCancelled:
      return {.status = 503, .message = status.message()};
    default:
      return {.status = 500, .message = status.message()};
  }
}

std::string ErrorJson(const ApiError& error) {
  const Json body = {{"error",
                      {{"message", error.message},
                       {"type", TypeOf(error.status)},
                       {"param", TextOrNull(error.param)},
                       {"code", TextOrNull(error.code)}}}};
  return DumpJson(body);
}

HttpResponse ErrorResponse(const ApiError& error, HttpHeaders headers) {
  HttpResponse response{
      .status = error.status, .body = ErrorJson(error), .headers = std::move(headers)};
  const bool is_for_now = error.status == 429 || error.status == 503;
  if (is_for_now) response.headers.emplace_back("Retry-After", kRetryAfterSeconds);
  if (error.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace gdn
