// SPDX-License-Identifier: Apache-2.0
// The functions of text.h that read UTF-8 and cut text.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "chat_template/text.h"

namespace gdn::jinja {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The code point that ends at byte i of valid text; i moves to its start.
char32_t PreviousCodePoint(std::string_view text, size_t& i) {
  do {
    --i;
  } while (IsContinuation(text[i]));
  size_t at = i;
  return NextCodePoint(text, at);
}

template <class Predicate>
std::string_view StripWhere(std::string_view text, bool left, bool right, Predicate strip) {
  size_t begin = 0;
  size_t end = text.size();
  while (left && begin < end) {
    size_t next = begin;
    if (!strip(NextCodePoint(text, next))) break;
    begin = next;
  }
  while (right && end > begin) {
    size_t previous = end;
    if (!strip(PreviousCodePoint(text, previous))) break;
    end = previous;
  }
  return text.substr(begin, end - begin);
}

bool IsLineEnd(char32_t c) {
  return (c >= 10 && c <= 13) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

}  // namespace

bool IsValidUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (length == 0 || lead > 0xF4 || length > text.size() - i) return false;
    for (size_t k = 1; k < length; ++k) {
      if (!IsContinuation(text[i + k])) return false;
    }
    if (length > 2) {  // overlong forms, surrogates, and what lies above the last code point
      const auto second = static_cast<unsigned char>(text[i + 1]);
      if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
          (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
        return false;
      }
    }
    i += length;
  }
  return true;
}

char32_t NextCodePoint(std::string_view text, size_t& i) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned lead = byte(i);
  if (lead < 0x80) {
    i += 1;
    return lead;
  }
  const auto tail = [&](size_t at) { return static_cast<unsigned>(byte(at)) & 0x3F; };
  if (lead < 0xE0) {
    i += 2;
    return ((lead & 0x1F) << 6) | tail(i - 1);
  }
  if (lead < 0xF0) {
    i += 3;
    return ((lead & 0x0F) << 12) | (tail(i - 2) << 6) | tail(i - 1);
  }
  i += 4;
  return ((lead & 0x07) << 18) | (tail(i - 3) << 12) | (tail(i - 2) << 6) | tail(i - 1);
}

void AppendUtf8(char32_t c, std::string& out) {
  const auto push = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    push(c);
  } else if (c < 0x800) {
    push(0xC0 | (c >> 6));
    push(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    push(0xE0 | (c >> 12));
    push(0x80 | ((c >> 6) & 0x3F));
    push(0x80 | (c & 0x3F));
  } else {
    push(0xF0 | (c >> 18));
    push(0x80 | ((c >> 12) & 0x3F));
    push(0x80 | ((c >> 6) & 0x3F));
    push(0x80 | (c & 0x3F));
  }
}

size_t CountCodePoints(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

size_t ByteOffset(std::string_view text, size_t index) {
  size_t i = 0;
  for (; i < text.size(); ++i) {
    if (IsContinuation(text[i])) continue;
    if (index == 0) return i;
    --index;
  }
  return i;
}

std::string_view StripSpace(std::string_view text, bool left, bool right) {
  return StripWhere(text, left, right, IsSpace);
}

std::string_view StripChars(std::string_view text, std::string_view chars, bool left, bool right) {
  std::vector<char32_t> wanted;
  for (size_t i = 0; i < chars.size();) wanted.push_back(NextCodePoint(chars, i));
  std::sort(wanted.begin(), wanted.end());
  return StripWhere(text, left, right, [&](char32_t c) {
    return std::binary_search(wanted.begin(), wanted.end(), c);
  });
}

std::vector<std::string_view> SplitSpace(std::string_view text, long long max_splits) {
  std::vector<std::string_view> out;
  text = StripSpace(text, /*left=*/true, /*right=*/false);
  while (!text.empty()) {
    if (max_splits >= 0 && static_cast<long long>(out.size()) == max_splits) {
      out.push_back(text);
      break;
    }
    size_t end = 0;
    for (size_t next = 0; end < text.size(); end = next) {
      if (IsSpace(NextCodePoint(text, next))) break;
    }
    out.push_back(text.substr(0, end));
    text = StripSpace(text.substr(end), /*left=*/true, /*right=*/false);
  }
  return out;
}

std::vector<std::string_view> SplitSpaceFromRight(std::string_view text, long long max_splits) {
  std::vector<std::string_view> out;
  text = StripSpace(text, /*left=*/false, /*right=*/true);
  while (!text.empty()) {
    if (max_splits >= 0 && static_cast<long long>(out.size()) == max_splits) {
      out.push_back(text);
      break;
    }
    size_t begin = text.size();
    for (size_t previous = begin; begin > 0; begin = previous) {
      if (IsSpace(PreviousCodePoint(text, previous))) break;
    }
    out.push_back(text.substr(begin));
    text = StripSpace(text.substr(0, begin), /*left=*/false, /*right=*/true);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::string_view> SplitLines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> out;
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t at = i;
    const char32_t c = NextCodePoint(text, i);
    if (!IsLineEnd(c)) continue;
    if (c == '\r' && i < text.size() && text[i] == '\n') ++i;
    out.push_back(text.substr(start, (keep_ends ? i : at) - start));
    start = i;
  }
  if (start < text.size()) out.push_back(text.substr(start));
  return out;
}

}  // namespace gdn::jinja
