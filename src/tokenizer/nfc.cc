// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "tokenizer/unicode_tables.h"
#include "tokenizer/utf8.h"

namespace gdn {
namespace {

// No character has a longer canonical decomposition than 4; the API takes any bound.
constexpr int kMaxDecomposition = 16;
// No assigned character from here on takes part in normalisation, nor may one below U+0300 change.
constexpr int32_t kTableEnd = 0x30000;
constexpr int32_t kFirstMark = 0x300;

using Parts = std::array<int32_t, kMaxDecomposition>;

const utf8proc_property_t& PropertyOf(int32_t c) { return *utf8proc_get_property(c); }

// Returns the number of code points that c decomposes into, 1 for itself.
int Decompose(int32_t c, Parts& parts) {
  int last_bound_class = 0;
  const auto count = utf8proc_decompose_char(
      c, parts.data(), kMaxDecomposition,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE), &last_bound_class);
  GDN_CHECK(count >= 0 && count <= kMaxDecomposition);
  return static_cast<int>(count);
}

// Composes code_points, which are decomposed, and appends their UTF-8. utf8proc's own ordering of
// marks is quadratic in the length of a run, and a client sends the text.
void OrderAndCompose(std::vector<int32_t>& code_points, std::string& out) {
  if (code_points.empty()) return;
  const auto is_mark = [](int32_t c) { return PropertyOf(c).combining_class != 0; };
  for (auto at = code_points.begin(); at != code_points.end();) {
    const auto first = std::find_if(at, code_points.end(), is_mark);
    at = std::find_if_not(first, code_points.end(), is_mark);
    std::stable_sort(first, at, [](int32_t a, int32_t b) {
      return PropertyOf(a).combining_class < PropertyOf(b).combining_class;
    });
  }
  const auto length = utf8proc_normalize_utf32(
      code_points.data(), static_cast<utf8proc_ssize_t>(code_points.size()),
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  GDN_CHECK(length >= 0);
  for (utf8proc_ssize_t i = 0; i < length; ++i) {
    AppendUtf8(static_cast<char32_t>(code_points[static_cast<size_t>(i)]), out);
  }
  code_points.clear();
}

// What Unicode calls NFC_Quick_Check No or Maybe, and the marks, whose order may change: characters
// that are not their own NFC and those that compose with the one before.
std::vector<bool> MakeMayChange() {
  std::vector<bool> table(kTableEnd, false);
  Parts parts{};
  std::vector<int32_t> code_points;
  for (int32_t c = kFirstMark; c < kTableEnd; ++c) {
    if (IsInertInNfc(static_cast<char32_t>(c))) continue;
    const auto entry = static_cast<size_t>(c);
    if (PropertyOf(c).combining_class != 0) table[entry] = true;
    const int count = Decompose(c, parts);
    if (count == 1 && parts[0] == c) continue;
    code_points.assign(parts.begin(), parts.begin() + count);
    std::string composed;
    OrderAndCompose(code_points, composed);
    std::string self;
    AppendUtf8(static_cast<char32_t>(c), self);
    if (composed != self) table[entry] = true;
    if (count > 1) table[static_cast<size_t>(parts[static_cast<size_t>(count - 1)])] = true;
  }
  return table;
}

}  // namespace

bool MayChangeInNfc(std::string_view text) {
  static const std::vector<bool> may_change = MakeMayChange();
  for (size_t at = AsciiPrefix(text); at < text.size(); at += AsciiPrefix(text.substr(at))) {
    const Utf8Step step = NextUtf8(text.substr(at));
    at += static_cast<size_t>(step.length_bytes);
    if (step.code_point < kFirstMark || step.code_point >= kTableEnd) continue;
    if (may_change[step.code_point]) return true;
  }
  return false;
}

std::string ToNfc(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::vector<int32_t> code_points;
  Parts parts{};
  for (size_t at = 0; at < text.size();) {
    const Utf8Step step = NextUtf8(text.substr(at));
    at += static_cast<size_t>(step.length_bytes);
    if (IsInertInNfc(step.code_point)) {
      OrderAndCompose(code_points, out);
      AppendUtf8(step.code_point, out);
      continue;
    }
    const int count = Decompose(static_cast<int32_t>(step.code_point), parts);
    code_points.insert(code_points.end(), parts.begin(), parts.begin() + count);
  }
  OrderAndCompose(code_points, out);
  return out;
}

}  // namespace gdn
