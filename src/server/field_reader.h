// SPDX-License-Identifier: Apache-2.0
// Members of a request's JSON object, read one after the other. The first that is wrong is the
// error; what is read after it stays as it was.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "server/api_error.h"

namespace gdn {

class FieldReader {
 public:
  using Json = nlohmann::ordered_json;

  // object outlives it. prefix: of the names in messages ("stream_options.").
  explicit FieldReader(Json& object, std::string prefix = "")
      : object_(object), prefix_(std::move(prefix)) {}

  // A member that is absent or null leaves out as it is.
  void Boolean(const char* name, bool& out);
  void String(const char* name, std::string& out);
  void Number(const char* name, float& out);
  // From min to max. 3.0 counts as an integer.
  void Integer(const char* name, int64_t min, int64_t max, int64_t& out);
  void Integer(const char* name, int64_t min, int64_t max, std::optional<int64_t>& out);
  void Strings(const char* name, std::vector<std::string>& out);  // one alone, or a list

  // The member, or null where it is absent, is null or an error has come before.
  Json* Find(const char* name);
  // The member is not what it must be.
  void Wrong(const char* name, const Json& value, const std::string& must);
  void Fail(const char* name, const std::string& message);

  bool ok() const { return !error_.has_value(); }
  const std::optional<ApiError>& error() const { return error_; }

 private:
  Json& object_;
  std::string prefix_;
  std::optional<ApiError> error_;
};

// "5", "a string", "an array": what a value of a client is, in a few words.
std::string Describe(const nlohmann::ordered_json& value);

// The integer that the value is, if it is one of 64 bits.
std::optional<int64_t> IntegerOf(const nlohmann::ordered_json& value);

}  // namespace gdn
