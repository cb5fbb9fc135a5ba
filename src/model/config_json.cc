// SPDX-License-Identifier: Apache-2.0
#include "model/config_json.h"

#include <algorithm>
#include <utility>

#include "base/str.h"

namespace gdn {
namespace {

const nlohmann::json& EmptyObject() {
  static const nlohmann::json empty = nlohmann::json::object();
  return empty;
}

// Integers are told from numbers such as 4096.0, which no writer of configurations makes.
bool IsIntegerIn(const nlohmann::json& value, int64_t min, int64_t max) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    return max >= 0 && number <= static_cast<uint64_t>(max) &&
           (min <= 0 || number >= static_cast<uint64_t>(min));
  }
  if (!value.is_number_integer()) return false;
  const auto number = value.get<int64_t>();
  return number >= min && number <= max;
}

// The value for a message: scalars as they stand, containers by their type.
std::string Show(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return StrCat("an array of ", value.size());
  if (value.is_string()) return Quoted(value.get_ref<const std::string&>());
  return value.dump();
}

}  // namespace

JsonReader::JsonReader(const nlohmann::json& object, std::string where)
    : object_(&object), where_(std::move(where)) {}

const nlohmann::json* JsonReader::Find(const char* key) const {
  const auto it = object_->find(key);
  return it == object_->end() || it->is_null() ? nullptr : &*it;
}

void JsonReader::Fail(const char* key, const std::string& must) {
  const nlohmann::json* value = Find(key);
  Fail(InvalidArgument(
      StrCat(where_, key, " is ", value == nullptr ? "absent" : Show(*value), ", must be ", must)));
}

void JsonReader::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

int64_t JsonReader::Int(const char* key, int64_t otherwise, int64_t min, int64_t max) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (IsIntegerIn(*value, min, max)) return value->get<int64_t>();
  Fail(key, StrCat("an integer from ", min, " to ", max));
  return otherwise;
}

double JsonReader::Number(const char* key, double otherwise, double min, double max) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_number()) {
    const auto number = value->get<double>();
    if (number >= min && number <= max) return number;
  }
  Fail(key, StrCat("a number from ", min, " to ", max));
  return otherwise;
}

bool JsonReader::Bool(const char* key, bool otherwise) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  Fail(key, "true or false");
  return otherwise;
}

std::string JsonReader::Word(const char* key, const char* otherwise) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_string()) return value->get<std::string>();
  Fail(key, "a string");
  return otherwise;
}

std::vector<std::string> JsonReader::Words(const char* key) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return {};
  const auto is_string = [](const nlohmann::json& word) { return word.is_string(); };
  if (value->is_array() && std::all_of(value->begin(), value->end(), is_string)) {
    return value->get<std::vector<std::string>>();
  }
  Fail(key, "an array of strings");
  return {};
}

std::vector<int32_t> JsonReader::TokenIds(const char* key, int64_t limit) {
  const nlohmann::json* value = Find(key);
  if (value == nullptr) return {};
  std::vector<int32_t> ids;
  const auto add = [&](const nlohmann::json& id) {
    if (!IsIntegerIn(id, 0, limit - 1)) {
      Fail(InvalidArgument(StrCat(where_, key, " has ", Show(id), ", must be an id from 0 to ",
                                  limit - 1, " or a list of them")));
      return;
    }
    const auto number = id.get<int32_t>();
    if (std::find(ids.begin(), ids.end(), number) == ids.end()) ids.push_back(number);
  };
  // Longer lists would only make the duplicate check slow.
  constexpr size_t kMaxIds = 256;
  if (!value->is_array()) {
    add(*value);
  } else if (value->size() > kMaxIds) {
    Fail(key, StrCat("a list of at most ", kMaxIds, " ids"));
  } else {
    for (const nlohmann::json& id : *value) add(id);
  }
  return ids;
}

JsonReader JsonReader::Object(const char* key) {
  const nlohmann::json* value = Find(key);
  if (value != nullptr && !value->is_object()) {
    Fail(key, "an object");
    value = nullptr;
  }
  return {value == nullptr ? EmptyObject() : *value, StrCat(where_, key, ".")};
}

}  // namespace gdn
