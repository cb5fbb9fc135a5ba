// SPDX-License-Identifier: Apache-2.0
// Finds the added tokens (<|im_start|> and the like) in a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/pair_map.h"

namespace gdn {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool single_word = false;  // not where a letter, digit or the like touches it
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
  bool normalized = false;   // is looked for in the normalised text
};

inline constexpr size_t kMaxAddedTokenBytes = 128;

class AddedTokenMatcher {
 public:
  struct Span {
    size_t begin;
    size_t end;
    int32_t id;  // -1: text between the tokens
  };

  // text_of is what to look for: the content, or its normalised form. Neither empty nor longer
  // than kMaxAddedTokenBytes, which bounds the time a character of text takes. Of two tokens with
  // one text the first is found.
  void Add(AddedToken token, std::string_view text_of);

  bool empty() const { return tokens_.empty(); }

  // The tokens in text (valid UTF-8) and the texts between, in order. Of the tokens that start at
  // one place the longest is found, and the search goes on behind it.
  std::vector<Span> Find(std::string_view text) const;

 private:
  // The longest token at the start of text; -1 for none.
  int64_t Longest(std::string_view text) const;

  std::array<bool, 256> starts_{};  // whether a token starts with the byte
  std::vector<AddedToken> tokens_;
  std::vector<size_t> lengths_;
  PairMap edges_;                  // (node, byte) -> node
  std::vector<int64_t> ends_{-1};  // by node: index of the token that ends there
};

}  // namespace gdn
