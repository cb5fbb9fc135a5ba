// SPDX-License-Identifier: Apache-2.0
// Errors as clients of OpenAI's interface know them.
#pragma once

#include <string>

#include "base/status.h"
#include "server/http_types.h"

namespace gdn {

// Of answers 429 and 503.
inline constexpr const char* kRetryAfterSeconds = "5";

struct ApiError {
  int status = 400;  // of HTTP
  std::string message;
  std::string param;  // the member of the request that is wrong; "" for none
  std::string code;   // "" for none
};

// What a failure is to a client: 400 where the request is at fault, else 500 or 503.
ApiError ApiErrorOf(const Status& status);

// {"error": {"message", "type", "param", "code"}}; the type follows from the status.
std::string ErrorJson(const ApiError& error);
// That as an answer, with what its status wants of headers: when to ask again, how to name a key.
HttpResponse ErrorResponse(const ApiError& error, HttpHeaders headers = {});

}  // namespace gdn
