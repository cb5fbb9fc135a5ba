// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include <array>
#include <cstdio>

namespace gdn {

std::string Quoted(std::string_view text, size_t max_bytes) {
  std::string out = "\"";
  for (const char c : text.substr(0, max_bytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (byte >= 0x20 && byte < 0x7F) {
      out.push_back(c);
    } else {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\x%02x", byte);
      out.append(escaped.data());
    }
  }
  return out.append(text.size() > max_bytes ? "...\"" : "\"");
}

std::string HumanBytes(unsigned long long bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), unit == 0 ? "%.0f %s" : "%.2f %s", value,
                kUnits[unit]);
  return buffer.data();
}

}  // namespace gdn
