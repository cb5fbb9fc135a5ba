// SPDX-License-Identifier: Apache-2.0
// UTF-8 as Unicode defines it: no surrogates, no overlong forms, nothing above U+10FFFF. An
// ill-formed sequence is cut at its maximal subpart, which is where lossy decoders put one U+FFFD.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gdn {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

enum class Utf8Kind {
  kValid,
  kInvalid,
  kIncomplete,  // the text ends within a sequence that more bytes may make valid
};

struct Utf8Step {
  Utf8Kind kind;
  int length_bytes;  // of the character, or of the part that one U+FFFD stands for
  char32_t code_point;
};

// The first step of a text that is not empty.
Utf8Step NextUtf8(std::string_view text);

// Length of the run of ASCII at the start.
size_t AsciiPrefix(std::string_view text);

// Offset of the first byte that is not part of a valid character; npos when all are.
size_t FindInvalidUtf8(std::string_view text);

void AppendUtf8(char32_t code_point, std::string& out);

// Appends text with each maximal ill-formed part replaced by U+FFFD.
void AppendLossyUtf8(std::string_view text, std::string& out);

}  // namespace gdn
