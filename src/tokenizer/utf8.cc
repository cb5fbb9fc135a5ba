// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace gdn {
namespace {

struct Lead {
  int length_bytes;  // 0: no character starts with this byte
  uint8_t second_min;
  uint8_t second_max;
};

// Only the second byte's range depends on the lead: it shuts out overlong forms, surrogates and
// everything above U+10FFFF.
Lead LeadOf(uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

Utf8Step NextUtf8(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  const Lead lead = LeadOf(first);
  if (lead.length_bytes == 1) return {Utf8Kind::kValid, 1, first};
  if (lead.length_bytes == 0) return {Utf8Kind::kInvalid, 1, 0};
  char32_t code_point = first & (0x7F >> lead.length_bytes);
  uint8_t min = lead.second_min;
  uint8_t max = lead.second_max;
  for (int i = 1; i < lead.length_bytes; ++i) {
    if (static_cast<size_t>(i) == text.size()) return {Utf8Kind::kIncomplete, i, 0};
    const auto byte = static_cast<uint8_t>(text[static_cast<size_t>(i)]);
    if (byte < min || byte > max) return {Utf8Kind::kInvalid, i, 0};
    code_point = (code_point << 6) | (byte & 0x3F);
    min = 0x80;
    max = 0xBF;
  }
  return {Utf8Kind::kValid, lead.length_bytes, code_point};
}

size_t AsciiPrefix(std::string_view text) {
  size_t at = 0;
  for (uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080) != 0) break;
  }
  while (at < text.size() && static_cast<uint8_t>(text[at]) < 0x80) ++at;
  return at;
}

size_t FindInvalidUtf8(std::string_view text) {
  size_t at = 0;
  while (true) {
    at += AsciiPrefix(text.substr(at));
    if (at == text.size()) return std::string_view::npos;
    const Utf8Step step = NextUtf8(text.substr(at));
    if (step.kind != Utf8Kind::kValid) return at;
    at += static_cast<size_t>(step.length_bytes);
  }
}

void AppendUtf8(char32_t code_point, std::string& out) {
  const auto tail = [&](int shift) {
    out.push_back(static_cast<char>(0x80 | ((code_point >> shift) & 0x3F)));
  };
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xC0 | (code_point >> 6)));
    tail(0);
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xE0 | (code_point >> 12)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0 | (code_point >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

void AppendLossyUtf8(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const size_t valid = std::min(FindInvalidUtf8(text), text.size());
    out.append(text.substr(0, valid));
    text.remove_prefix(valid);
    if (text.empty()) break;
    out.append(kReplacementCharacter);
    text.remove_prefix(static_cast<size_t>(NextUtf8(text).length_bytes));
  }
}

}  // namespace gdn
