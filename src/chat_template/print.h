// SPDX-License-Identifier: Apache-2.0
// Values as text: Python's str() and repr().
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "chat_template/budget.h"
#include "chat_template/value.h"

namespace gdn::jinja {

// Appends str(value): a string as it is, an undefined value as nothing.
// Errors: a limit is exceeded; the type has no text that means something (a macro, a loop).
Status AppendStr(const Value& value, Budget& budget, std::string& out);
// Appends repr(value): a string in quotes, with what does not print escaped.
Status AppendRepr(const Value& value, Budget& budget, std::string& out);

Result<std::string> Str(const Value& value, Budget& budget);

// repr(float): the shortest digits that read back as the same number.
std::string FloatRepr(double value);
std::string IntText(Int value);

// text with & < > ' " as entities.
std::string EscapeHtml(std::string_view text);

}  // namespace gdn::jinja
