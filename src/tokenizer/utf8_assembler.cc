// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/utf8_assembler.h"

#include "tokenizer/utf8.h"

namespace gdn {

std::string Utf8Assembler::Append(std::string_view bytes) {
  tail_.append(bytes);
  const std::string_view text = tail_;
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const Utf8Step step = NextUtf8(text.substr(at));
    if (step.kind == Utf8Kind::kIncomplete) break;
    const auto length = static_cast<size_t>(step.length_bytes);
    out.append(step.kind == Utf8Kind::kValid ? text.substr(at, length) : kReplacementCharacter);
    at += length;
  }
  tail_.erase(0, at);
  return out;
}

std::string Utf8Assembler::Flush() {
  std::string out(tail_.empty() ? std::string_view() : kReplacementCharacter);
  tail_.clear();
  return out;
}

}  // namespace gdn
