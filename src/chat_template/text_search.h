// SPDX-License-Identifier: Apache-2.0
// Substring search that is linear in both texts: they come from strangers.
#pragma once

#include <cstddef>
#include <string_view>

namespace gdn::jinja {

// Offset of the first occurrence at or after `from`; npos where there is none.
size_t FindText(std::string_view text, std::string_view wanted, size_t from);

// Offset of the last occurrence.
size_t FindLastText(std::string_view text, std::string_view wanted);

}  // namespace gdn::jinja
