// SPDX-License-Identifier: Apache-2.0
// Text as Python's str sees it: a sequence of code points. Here it is valid UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gdn::jinja {

// Whether text is well-formed UTF-8 without surrogates.
bool IsValidUtf8(std::string_view text);

// The code point at byte i of valid text; i moves behind it.
char32_t NextCodePoint(std::string_view text, size_t& i);
void AppendUtf8(char32_t c, std::string& out);
size_t CountCodePoints(std::string_view text);
// The byte where code point `index` starts; the size of the text for one at its end or behind it.
size_t ByteOffset(std::string_view text, size_t index);

bool IsSpace(char32_t c);
bool IsPrintable(char32_t c);
bool IsLower(char32_t c);
bool IsUpper(char32_t c);

// str.upper(), lower(), title(), capitalize(), swapcase(). The capital sigma always becomes the
// small one, also at the end of a word.
std::string ToUpper(std::string_view text);
std::string ToLower(std::string_view text);
std::string ToTitle(std::string_view text);
std::string Capitalize(std::string_view text);
std::string SwapCase(std::string_view text);

// str.islower() and isupper(): some letter has the case and none the other.
bool IsLowerText(std::string_view text);
bool IsUpperText(std::string_view text);

// The part of text without white space at its ends.
std::string_view StripSpace(std::string_view text, bool left, bool right);
// The same of the code points of chars.
std::string_view StripChars(std::string_view text, std::string_view chars, bool left, bool right);

// str.split() and str.rsplit() without a separator; max_splits < 0 is no bound.
std::vector<std::string_view> SplitSpace(std::string_view text, long long max_splits);
std::vector<std::string_view> SplitSpaceFromRight(std::string_view text, long long max_splits);
// str.splitlines().
std::vector<std::string_view> SplitLines(std::string_view text, bool keep_ends);

}  // namespace gdn::jinja
