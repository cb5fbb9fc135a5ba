// SPDX-License-Identifier: Apache-2.0
// Values into other values: iteration, numbers of text, JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "chat_template/budget.h"
#include "chat_template/value.h"

namespace gdn::jinja {

// What a loop over the value would see. An iterator is used up. Errors: it cannot be iterated.
Result<SequencePtr> ItemsOf(const Value& value, Budget& budget);

// len(): of texts in code points. Errors: the type has no length.
Result<int64_t> LengthOf(const Value& value, Budget& budget);

// int("...") and float("...") of Python; nothing where it raises ValueError. An int of more than
// 128 bits is nothing too.
std::optional<Int> ParseInt(std::string_view text, int base);
std::optional<double> ParseFloat(std::string_view text);

// Errors: kInvalidArgument, naming the place below `path`, where a text is not UTF-8 or a limit is
// exceeded.
Result<Value> FromJson(const nlohmann::ordered_json& json, const std::string& path, Budget& budget);

// json.dumps(). item_separator and key_separator empty: those of Python for the indentation.
struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent;  // of one level; none: all on one line
  std::string item_separator;
  std::string key_separator;
  bool has_separators = false;
};
Status AppendJson(const Value& value, const JsonStyle& style, Budget& budget, std::string& out);

}  // namespace gdn::jinja
