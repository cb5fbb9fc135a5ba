// SPDX-License-Identifier: Apache-2.0
// A template's source as tokens. White space around tags is already what trim_blocks, lstrip_blocks
// and the signs of the tags ('-', '+') make of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gdn::jinja {

struct Token {
  enum class Kind {
    kText,        // outside of tags; also what {% raw %} holds
    kBlockBegin,  // {%
    kBlockEnd,
    kOutputBegin,  // {{
    kOutputEnd,
    kName,
    kString,    // text: its value
    kInteger,   // text: as written, without underscores
    kFloat,     // the same
    kOperator,  // text: "+", "==", "(", ...
    kEnd,
  };
  Kind kind;
  int line;
  std::string text;
};

// Of valid UTF-8. The last token is kEnd. Errors: kInvalidArgument, with the line.
Result<std::vector<Token>> Tokenize(std::string_view source);

// "chat template, line 3: message".
Status ErrorAt(int line, std::string_view message);
// The same of a Status without a line.
Status AtLine(int line, const Status& status);

}  // namespace gdn::jinja
