// SPDX-License-Identifier: Apache-2.0
#include "session/text_stream.h"

namespace gdn {

TextStream::TextStream(const Tokenizer& tokenizer, const std::vector<std::string>& stops,
                       ReasoningStart reasoning, int64_t min_tokens)
    : tokenizer_(tokenizer), matcher_(stops), splitter_(reasoning), num_unstoppable_(min_tokens) {}

ReasoningSplitter::Parts TextStream::Append(int32_t token) {
  bytes_.clear();
  tokenizer_.AppendTokenBytes(token, /*skip_special=*/true, bytes_);
  const bool may_stop = num_unstoppable_ == 0;
  if (!may_stop) --num_unstoppable_;
  return splitter_.Append(matcher_.Append(assembler_.Append(bytes_), may_stop));
}

ReasoningSplitter::Parts TextStream::Flush() {
  std::string rest;
  if (!matcher_.stopped()) rest = matcher_.Append(assembler_.Flush());
  rest += matcher_.Flush();
  ReasoningSplitter::Parts parts = splitter_.Append(rest);
  const ReasoningSplitter::Parts last = splitter_.Flush();
  parts.reasoning += last.reasoning;
  parts.text += last.text;
  return parts;
}

}  // namespace gdn
