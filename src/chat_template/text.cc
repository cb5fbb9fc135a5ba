// SPDX-License-Identifier: Apache-2.0
#include "chat_template/text.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "chat_template/unicode_tables.h"

namespace gdn::jinja {
namespace {

bool Holds(std::span<const CodePointRange> ranges, char32_t c) {
  const auto at = std::lower_bound(
      ranges.begin(), ranges.end(), c,
      [](const CodePointRange& range, char32_t wanted) { return range.last < wanted; });
  return at != ranges.end() && at->first <= c;
}

// Whether the mapping knows c; then its image is appended to out, where there is an out.
bool Map(const CaseMapping& mapping, char32_t c, std::string* out) {
  const auto text =
      std::lower_bound(mapping.texts.begin(), mapping.texts.end(), c,
                       [](const CaseText& entry, char32_t wanted) { return entry.from < wanted; });
  if (text != mapping.texts.end() && text->from == c) {
    if (out != nullptr) out->append(text->text);
    return true;
  }
  // Ranges of step 2 interleave: the one that holds c may start before its neighbour does.
  auto range = std::upper_bound(
      mapping.ranges.begin(), mapping.ranges.end(), c,
      [](char32_t wanted, const CaseRange& entry) { return wanted < entry.first; });
  for (int back = 0; back < 2 && range != mapping.ranges.begin(); ++back) {
    --range;
    if (c > range->last || (c - range->first) % static_cast<uint32_t>(range->step) != 0) continue;
    if (out != nullptr) {
      AppendUtf8(static_cast<char32_t>(static_cast<int32_t>(c) + range->delta), *out);
    }
    return true;
  }
  return false;
}

void AppendUpper(char32_t c, std::string& out) {
  if (!Map(UpperMapping(), c, &out)) AppendUtf8(c, out);
}

void AppendLower(char32_t c, std::string& out) {
  if (!Map(LowerMapping(), c, &out)) AppendUtf8(c, out);
}

void AppendTitle(char32_t c, std::string& out) {
  if (!Map(TitleMapping(), c, &out)) AppendUpper(c, out);
}

// Title case is cased and neither upper nor lower; each such letter has a lower mapping.
bool IsCased(char32_t c) { return IsLower(c) || IsUpper(c) || Map(LowerMapping(), c, nullptr); }

}  // namespace

bool IsSpace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31);
  return Holds(SpaceRanges(), c);
}

bool IsPrintable(char32_t c) {
  if (c < 0x7F) return c >= 0x20;
  return !Holds(NotPrintableRanges(), c);
}

bool IsLower(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  const bool mapped = Map(UpperMapping(), c, nullptr) && !Map(LowerMapping(), c, nullptr);
  return mapped != Holds(LowerExceptions(), c);
}

bool IsUpper(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  const bool mapped = Map(LowerMapping(), c, nullptr) && !Map(UpperMapping(), c, nullptr);
  return mapped != Holds(UpperExceptions(), c);
}

std::string ToUpper(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) AppendUpper(NextCodePoint(text, i), out);
  return out;
}

std::string ToLower(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) AppendLower(NextCodePoint(text, i), out);
  return out;
}

std::string ToTitle(std::string_view text) {
  std::string out;
  bool in_word = false;
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, i);
    if (in_word) {
      AppendLower(c, out);
    } else {
      AppendTitle(c, out);
    }
    in_word = IsCased(c);
  }
  return out;
}

std::string Capitalize(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const bool first = i == 0;
    const char32_t c = NextCodePoint(text, i);
    if (first) {
      AppendTitle(c, out);
    } else {
      AppendLower(c, out);
    }
  }
  return out;
}

std::string SwapCase(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, i);
    if (IsUpper(c)) {
      AppendLower(c, out);
    } else if (IsLower(c)) {
      AppendUpper(c, out);
    } else {
      AppendUtf8(c, out);
    }
  }
  return out;
}

bool IsLowerText(std::string_view text) {
  bool found = false;
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, i);
    if (IsLower(c)) {
      found = true;
    } else if (IsCased(c)) {
      return false;
    }
  }
  return found;
}

bool IsUpperText(std::string_view text) {
  bool found = false;
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, i);
    if (IsUpper(c)) {
      found = true;
    } else if (IsCased(c)) {
      return false;
    }
  }
  return found;
}

}  // namespace gdn::jinja
