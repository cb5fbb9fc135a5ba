// SPDX-License-Identifier: Apache-2.0
#include "chat_template/text_search.h"

#include <string.h>

#include <string>

namespace gdn::jinja {

size_t FindText(std::string_view text, std::string_view wanted, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (wanted.empty()) return from;
  // glibc's is the two-way algorithm; std::string::find would be quadratic.
  const void* const found =
      memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

size_t FindLastText(std::string_view text, std::string_view wanted) {
  const std::string reversed_text(text.rbegin(), text.rend());
  const std::string reversed_wanted(wanted.rbegin(), wanted.rend());
  const size_t found = FindText(reversed_text, reversed_wanted, 0);
  if (found == std::string_view::npos) return found;
  return text.size() - found - wanted.size();
}

}  // namespace gdn::jinja
