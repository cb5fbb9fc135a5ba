// SPDX-License-Identifier: Apache-2.0
// What Python's str knows of Unicode: tables written by tools/chat_templates/unicode_tables.py.
// All are sorted.
#pragma once

#include <cstdint>
#include <span>

namespace gdn::jinja {

struct CodePointRange {
  char32_t first;
  char32_t last;
};

// first, first + step, ..., last map to themselves + delta.
struct CaseRange {
  char32_t first;
  char32_t last;
  int32_t step;
  int32_t delta;
};

struct CaseText {
  char32_t from;
  const char* text;  // UTF-8
};

struct CaseMapping {
  std::span<const CaseRange> ranges;
  std::span<const CaseText> texts;  // code points that become several
};

std::span<const CodePointRange> SpaceRanges();
std::span<const CodePointRange> NotPrintableRanges();

// A code point is lower case where it has an upper mapping and no lower one; here it is the other
// way round. The same of upper case.
std::span<const CodePointRange> LowerExceptions();
std::span<const CodePointRange> UpperExceptions();

const CaseMapping& UpperMapping();
const CaseMapping& LowerMapping();
// Only where it is not the upper mapping; a code point that maps to itself is listed.
const CaseMapping& TitleMapping();

}  // namespace gdn::jinja
