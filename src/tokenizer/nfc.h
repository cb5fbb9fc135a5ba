// SPDX-License-Identifier: Apache-2.0
// Unicode normalisation form C.
#pragma once

#include <string>
#include <string_view>

namespace gdn {

// False only when NFC surely leaves text (valid UTF-8) as it is.
bool MayChangeInNfc(std::string_view text);

// text (valid UTF-8, below 2^29 bytes) in NFC, in O(n log n) whatever the text.
std::string ToNfc(std::string_view text);

}  // namespace gdn
