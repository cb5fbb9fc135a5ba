// SPDX-License-Identifier: Apache-2.0
// Who may use the server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gdn {

class ApiKeys {
 public:
  ApiKeys() = default;
  explicit ApiKeys(std::vector<std::string> keys) : keys_(std::move(keys)) {}

  bool empty() const { return keys_.empty(); }
  // Of the value of an Authorization header, "Bearer KEY". Every key is looked at to its end, so
  // that the time taken says nothing about how much of one was right. With no keys all may.
  bool Allow(std::string_view authorization) const;

 private:
  std::vector<std::string> keys_;
};

// The keys of a file, one a line; empty lines and those that begin with # are none.
// Errors: kInvalidArgument for a key that a header cannot carry, and where there is none.
Result<std::vector<std::string>> ParseApiKeys(std::string_view text, const std::string& name);

}  // namespace gdn
