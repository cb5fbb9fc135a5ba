// SPDX-License-Identifier: Apache-2.0
// What the methods of str and the filters of the same name share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "chat_template/builtin.h"

namespace gdn::jinja {

// Each part as a str, or a Markup where `like` is one.
Result<Value> ListOfTexts(const std::vector<std::string_view>& parts, const Value& like,
                          Runtime& runtime);

// text.replace(from, to, count) of Python; count < 0 is no bound.
Result<std::string> ReplaceText(std::string_view text, std::string_view from, std::string_view to,
                                int64_t count, Budget& budget);

// text with spaces (or fill) around it.
Result<std::string> PadText(std::string_view text, int64_t width, std::string_view fill, bool left,
                            bool right, Budget& budget);

// "{}".format(...). Errors: a field that looks into its argument, a format that Python does not
// know for the type.
Result<Value> FormatBraces(Runtime& runtime, const Value& self, const BoundArguments& arguments);

// The tables of the other sources.
const Builtin* FindSplitMethod(std::string_view name);
const Builtin* FindSearchMethod(std::string_view name);

}  // namespace gdn::jinja
