// SPDX-License-Identifier: Apache-2.0
// The text of one completion out of its tokens: whole characters, stop strings, reasoning.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/reasoning_splitter.h"
#include "session/stop_matcher.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8_assembler.h"

namespace gdn {

class TextStream {
 public:
  // tokenizer outlives it; stops are valid. The first min_tokens tokens complete no stop string.
  TextStream(const Tokenizer& tokenizer, const std::vector<std::string>& stops,
             ReasoningStart reasoning, int64_t min_tokens = 0);

  // What is certain with this token. Nothing more once stopped().
  ReasoningSplitter::Parts Append(int32_t token);
  // The rest, when no more tokens come.
  ReasoningSplitter::Parts Flush();
  // A stop string has come, of the reply as a whole.
  bool stopped() const { return matcher_.stopped(); }

 private:
  const Tokenizer& tokenizer_;
  Utf8Assembler assembler_;
  StopMatcher matcher_;
  ReasoningSplitter splitter_;
  std::string bytes_;
  int64_t num_unstoppable_;  // tokens to come that complete no stop string
};

}  // namespace gdn
