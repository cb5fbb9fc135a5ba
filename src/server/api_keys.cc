// SPDX-License-Identifier: Apache-2.0
#include "server/api_keys.h"

#include <algorithm>

#include "base/str.h"

namespace gdn {
namespace {

// The time depends on the length of the given text alone.
bool IsKey(std::string_view key, std::string_view given) {
  unsigned difference = key.size() == given.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    const char want = key.empty() ? '\0' : key[i % key.size()];
    difference |= static_cast<unsigned char>(want ^ given[i]);
  }
  // The compiler must not see that a non-zero difference stays one.
  volatile unsigned result = difference;
  return result == 0;
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  const size_t end = text.find_last_not_of(kSpace) + 1;  // 0 where there is none
  return text.substr(begin, std::max(begin, end) - begin);
}

bool IsBearer(std::string_view scheme) {
  return std::ranges::equal(scheme, std::string_view("bearer"),
                            [](char a, char b) { return (a | 0x20) == b; });
}

}  // namespace

bool ApiKeys::Allow(std::string_view authorization) const {
  if (keys_.empty()) return true;
  const size_t space = std::min(authorization.find(' '), authorization.size());
  const std::string_view given = Trimmed(authorization.substr(space));
  bool is_known = false;
  for (const std::string& key : keys_) is_known |= IsKey(key, given);
  return is_known && IsBearer(authorization.substr(0, space));
}

Result<std::vector<std::string>> ParseApiKeys(std::string_view text, const std::string& name) {
  std::vector<std::string> keys;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view key = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (key.empty() || key.front() == '#') continue;
    if (!std::ranges::all_of(key, [](char c) { return c > 0x20 && c < 0x7F; })) {
      return InvalidArgument(
          StrCat(name, ": line ", line, " is no key, want visible ASCII without spaces"));
    }
    keys.emplace_back(key);
  }
  if (keys.empty()) return InvalidArgument(name + ": has no key, want one a line");
  return keys;
}

}  // namespace gdn
