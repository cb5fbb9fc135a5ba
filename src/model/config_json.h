// SPDX-License-Identifier: Apache-2.0
// Typed, bounded values out of a JSON object. The first error sticks, so that a list of fields
// reads as a list.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/status.h"

namespace gdn {

// Borrows the object. A key that is absent or null has the default.
class JsonReader {
 public:
  // where precedes keys in messages: "config.json: text_config."
  JsonReader(const nlohmann::json& object, std::string where);

  int64_t Int(const char* key, int64_t otherwise, int64_t min, int64_t max);
  double Number(const char* key, double otherwise, double min, double max);
  bool Bool(const char* key, bool otherwise);
  std::string Word(const char* key, const char* otherwise);
  std::vector<std::string> Words(const char* key);
  // One integer or a list of them, each once, in [0, limit).
  std::vector<int32_t> TokenIds(const char* key, int64_t limit);
  // An empty reader where there is none.
  JsonReader Object(const char* key);
  // nullptr where the key is absent or null.
  const nlohmann::json* Find(const char* key) const;
  bool Has(const char* key) const { return Find(key) != nullptr; }

  // kInvalidArgument "WHERE.KEY is VALUE, must be MUST", unless an error stuck before.
  void Fail(const char* key, const std::string& must);
  void Fail(Status status);
  const Status& status() const { return status_; }
  const std::string& where() const { return where_; }

 private:
  const nlohmann::json* object_;
  std::string where_;
  Status status_;
};

}  // namespace gdn
