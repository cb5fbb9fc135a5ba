// SPDX-License-Identifier: Apache-2.0
#include "server/field_reader.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/str.h"

namespace gdn {

using Json = nlohmann::ordered_json;

std::string Describe(const Json& value) {
  if (value.is_number() || value.is_boolean()) return value.dump();
  if (value.is_string()) return Quoted(value.get_ref<const std::string&>());
  return value.type_name();
}

std::optional<int64_t> IntegerOf(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.get<double>();
  if (!(std::abs(number) < 0x1p53) || number != std::trunc(number)) return std::nullopt;
  return static_cast<int64_t>(number);
}

Json* FieldReader::Find(const char* name) {
  if (!ok()) return nullptr;
  const auto it = object_.find(name);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

void FieldReader::Fail(const char* name, const std::string& message) {
  if (ok()) error_ = ApiError{.message = message, .param = prefix_ + name};
}

void FieldReader::Wrong(const char* name, const Json& value, const std::string& must) {
  Fail(name, StrCat(prefix_, name, " is ", Describe(value), ", want ", must));
}

void FieldReader::Boolean(const char* name, bool& out) {
  const Json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_boolean()) return Wrong(name, *value, "true or false");
  out = value->get<bool>();
}

void FieldReader::String(const char* name, std::string& out) {
  const Json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_string()) return Wrong(name, *value, "a string");
  out = value->get<std::string>();
}

void FieldReader::Number(const char* name, float& out) {
  const Json* value = Find(name);
  if (value == nullptr) return;
  if (!value->is_number()) return Wrong(name, *value, "a number");
  out = static_cast<float>(value->get<double>());
}

void FieldReader::Integer(const char* name, int64_t min, int64_t max, int64_t& out) {
  std::optional<int64_t> number;
  Integer(name, min, max, number);
  out = number.value_or(out);
}

void FieldReader::Integer(const char* name, int64_t min, int64_t max, std::optional<int64_t>& out) {
  const Json* value = Find(name);
  if (value == nullptr) return;
  const std::optional<int64_t> number = IntegerOf(*value);
  if (!number.has_value() || *number < min || *number > max) {
    return Wrong(name, *value, StrCat("an integer from ", min, " to ", max));
  }
  out = number;
}

void FieldReader::Strings(const char* name, std::vector<std::string>& out) {
  Json* value = Find(name);
  if (value == nullptr) return;
  if (value->is_string()) {
    out = {value->get<std::string>()};
    return;
  }
  if (!value->is_array()) return Wrong(name, *value, "a string or a list of strings");
  std::vector<std::string> strings;
  for (const Json& item : *value) {
    if (!item.is_string()) return Wrong(name, item, "strings alone in its list");
    strings.push_back(item.get<std::string>());
  }
  out = std::move(strings);
}

}  // namespace gdn
