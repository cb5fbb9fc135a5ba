// SPDX-License-Identifier: Apache-2.0
// Whole characters out of a stream of token bytes, which may be cut anywhere.
#pragma once

#include <string>
#include <string_view>

namespace gdn {

// Whatever the cuts, the concatenation of all that Append and Flush return is the lossy decoding
// of the bytes in one go: each maximal ill-formed part is one U+FFFD.
class Utf8Assembler {
 public:
  // The characters that are complete by now. Holds back at most 3 bytes.
  std::string Append(std::string_view bytes);

  // The end of the stream: U+FFFD when a character was cut, else nothing. Ready for a new stream.
  std::string Flush();

  bool holds_bytes() const { return !tail_.empty(); }

 private:
  std::string tail_;
};

}  // namespace gdn
