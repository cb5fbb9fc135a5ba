// SPDX-License-Identifier: Apache-2.0
// One formatted value, as format() and "%" of Python write it.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "chat_template/budget.h"
#include "chat_template/value.h"

namespace gdn::jinja {

struct FormatSpec {
  std::string fill = " ";  // one character
  char align = 0;          // '<', '>', '^', '=' or 0: that of the type
  char sign = '-';         // '-', '+' or ' '
  bool alternate = false;  // '#'
  char grouping = 0;       // ',' or '_'
  int64_t width = 0;
  int64_t precision = -1;
  char type = 0;
};

// [[fill]align][sign][#][0][width][grouping][.precision][type]
Result<FormatSpec> ParseFormatSpec(std::string_view text);

// Errors: the type of the value has no such format.
Result<std::string> FormatText(std::string_view text, const FormatSpec& spec, Budget& budget);
Result<std::string> FormatInt(Int value, const FormatSpec& spec, Budget& budget);
Result<std::string> FormatFloat(double value, const FormatSpec& spec, Budget& budget);

// format(value, spec).
Result<std::string> FormatValue(const Value& value, std::string_view spec, Budget& budget);

// Reads digits at i, up to kMaxWidth.
Result<int64_t> ReadWidth(std::string_view text, size_t& i);

}  // namespace gdn::jinja
