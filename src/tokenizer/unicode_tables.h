// SPDX-License-Identifier: Apache-2.0
// Unicode facts that ids depend on and that must not change with the PCRE2 and utf8proc of a
// distribution: where the tables of the `tokenizers` package, the reference, differ from theirs.
#pragma once

#include <span>

namespace gdn {

struct CodePointRange {
  char32_t first;
  char32_t last;
};

// Code points that became \p{L}, \p{M} or \p{N} in Unicode 15 to 16: the reference's patterns know
// them (Oniguruma 6.9.10), PCRE2 10.42 (Unicode 14) does not.
std::span<const CodePointRange> LaterLetters();
std::span<const CodePointRange> LaterMarks();
std::span<const CodePointRange> LaterNumbers();

// Whether normalisation leaves the code point alone, and does not see past it, although Unicode 16
// gives it a combining class, a decomposition or a composition: the reference's NFC follows
// Unicode 9.
bool IsInertInNfc(char32_t code_point);

// The property White_Space, which is what \s is in the reference's patterns.
bool IsWhiteSpace(char32_t code_point);

}  // namespace gdn
