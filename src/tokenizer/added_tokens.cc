// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/added_tokens.h"

#include <utf8proc.h>

#include <algorithm>

#include "tokenizer/unicode_tables.h"
#include "tokenizer/utf8.h"

namespace gdn {
namespace {

// \w of Unicode's regular expressions (UTS 18): alphabetic, marks, decimal digits, connectors and
// the two joiners.
bool IsWordCharacter(char32_t c) {
  switch (utf8proc_category(static_cast<int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      break;
  }
  // Circled and squared letters are symbols that are alphabetic.
  return c == 0x200C || c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) ||
         (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

// Start of the last character of text, which is not empty.
size_t LastCharacter(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

bool TouchesWord(std::string_view text, size_t begin, size_t end) {
  if (begin > 0) {
    const size_t last = LastCharacter(text.substr(0, begin));
    if (IsWordCharacter(NextUtf8(text.substr(last)).code_point)) return true;
  }
  return end < text.size() && IsWordCharacter(NextUtf8(text.substr(end)).code_point);
}

size_t SpaceStart(std::string_view text, size_t end, size_t limit) {
  while (end > limit) {
    const size_t last = LastCharacter(text.substr(0, end));
    if (!IsWhiteSpace(NextUtf8(text.substr(last)).code_point)) break;
    end = last;
  }
  return std::max(end, limit);
}

size_t SpaceEnd(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const Utf8Step step = NextUtf8(text.substr(begin));
    if (!IsWhiteSpace(step.code_point)) break;
    begin += static_cast<size_t>(step.length_bytes);
  }
  return begin;
}

}  // namespace

void AddedTokenMatcher::Add(AddedToken token, std::string_view text_of) {
  starts_[static_cast<uint8_t>(text_of[0])] = true;
  uint32_t node = 0;
  for (const char c : text_of) {
    const uint64_t edge = PairMap::Key(node, static_cast<uint8_t>(c));
    uint32_t next = edges_.Find(edge);
    if (next == PairMap::kMissing) {
      next = static_cast<uint32_t>(ends_.size());
      edges_.Insert(edge, next);
      ends_.push_back(-1);
    }
    node = next;
  }
  if (ends_[node] < 0) ends_[node] = static_cast<int64_t>(tokens_.size());
  tokens_.push_back(std::move(token));
  lengths_.push_back(text_of.size());
}

int64_t AddedTokenMatcher::Longest(std::string_view text) const {
  int64_t found = -1;
  uint32_t node = 0;
  for (const char c : text) {
    node = edges_.Find(PairMap::Key(node, static_cast<uint8_t>(c)));
    if (node == PairMap::kMissing) break;
    if (ends_[node] >= 0) found = ends_[node];
  }
  return found;
}

std::vector<AddedTokenMatcher::Span> AddedTokenMatcher::Find(std::string_view text) const {
  std::vector<Span> spans;
  size_t covered = 0;
  // The last white space looked through: every token inside it ends where it does, and without this
  // a text of spaces would be read once a space.
  size_t space_begin = 0;
  size_t space_end = 0;
  for (size_t at = 0; at < text.size() && !empty();) {
    const bool may_start = starts_[static_cast<uint8_t>(text[at])];
    const int64_t found = may_start ? Longest(text.substr(at)) : -1;
    if (found < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(found)];
    size_t begin = at;
    size_t end = at + lengths_[static_cast<size_t>(found)];
    at = end;
    if (token.single_word && TouchesWord(text, begin, end)) continue;
    if (token.lstrip) begin = SpaceStart(text, begin, covered);
    if (token.rstrip) {
      if (end < space_begin || end > space_end) {
        space_begin = end;
        space_end = SpaceEnd(text, end);
      }
      end = space_end;
    }
    if (covered < begin) spans.push_back({covered, begin, -1});
    spans.push_back({begin, end, token.id});
    // White space that this token took may still be a token of its own to the reference, which
    // then counts as covered only up to there.
    covered = end;
  }
  if (covered < text.size()) spans.push_back({covered, text.size(), -1});
  return spans;
}

}  // namespace gdn
