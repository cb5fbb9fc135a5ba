// SPDX-License-Identifier: Apache-2.0
// Small text helpers for messages.
#pragma once

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

namespace gdn {

inline void StrAppend(std::string& out, std::string_view piece) { out.append(piece); }
inline void StrAppend(std::string& out, const char* piece) { out.append(piece); }
inline void StrAppend(std::string& out, char piece) { out.push_back(piece); }
inline void StrAppend(std::string& out, bool piece) { out.append(piece ? "true" : "false"); }

template <class T>
requires std::is_arithmetic_v<T>
void StrAppend(std::string& out, T piece) {
  std::array<char, 32> buffer;
  char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), piece).ptr;
  out.append(buffer.data(), end);
}

// StrCat("beta is [", rows, ", ", heads, "]")
template <class... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string out;
  (StrAppend(out, pieces), ...);
  return out;
}

// Text of a file or a client, made safe for one line of a terminal: control characters and bytes
// outside ASCII are escaped, long text is cut.
std::string Quoted(std::string_view text, size_t max_bytes = 80);

// "1.50 GiB", "3.8 MiB", "512 B".
std::string HumanBytes(unsigned long long bytes);

}  // namespace gdn
