// SPDX-License-Identifier: Apache-2.0
// Text that may be the beginning of a marker whose rest has not come yet.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace gdn {

// Length of the longest end of text with which marker may begin; less than the whole marker.
inline size_t OpenBytes(std::string_view text, std::string_view marker) {
  for (size_t count = std::min(text.size(), marker.size() - 1); count > 0; --count) {
    if (text.ends_with(marker.substr(0, count))) return count;
  }
  return 0;
}

}  // namespace gdn
