// SPDX-License-Identifier: Apache-2.0
// The patterns of a tokenizer.json are written for Oniguruma with Ruby's syntax. This puts one into
// the words of PCRE2 (options UTF, UCP, MULTILINE, NO_AUTO_CAPTURE) so that it matches the same.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace gdn {

// Understands what both engines mean alike once \s, \p{L}, \p{M}, \p{N} and scripts are spelled
// out: literals, . ^ $ | classes, greedy, lazy and possessive quantifiers, the groups (?: (?i: (?>
// and lookaround, the escapes \s \S \d \D \p{..} \P{..} \r \n \t \f \v and of punctuation. Errors
// (kUnsupported) name anything else: the engines differ there, or PCRE2 alone has it.
Result<std::string> TranslateRegex(std::string_view pattern);

}  // namespace gdn
