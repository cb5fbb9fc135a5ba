// SPDX-License-Identifier: Apache-2.0
// The tokens inside of a tag.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "chat_template/lexer.h"

namespace gdn::jinja {

// A place in the source and its line.
class Cursor {
 public:
  explicit Cursor(std::string source) : source_(std::move(source)) {}

  size_t position() const { return position_; }
  size_t size() const { return source_.size(); }
  int line() const { return line_; }
  bool AtEnd() const { return position_ == source_.size(); }
  std::string_view Rest() const { return std::string_view(source_).substr(position_); }
  // Bytes [begin, end), cut at the end of the source.
  std::string_view Slice(size_t begin, size_t end) const {
    return std::string_view(source_).substr(std::min(begin, source_.size()), end - begin);
  }
  // 0 behind the end.
  char At(size_t position) const { return position < source_.size() ? source_[position] : '\0'; }
  char Peek() const { return At(position_); }

  void Advance(size_t bytes) {
    const std::string_view passed = std::string_view(source_).substr(position_, bytes);
    line_ += static_cast<int>(std::count(passed.begin(), passed.end(), '\n'));
    position_ += passed.size();
  }
  // The first byte at or after `from` that is not white space.
  size_t EndOfSpace(size_t from) const;
  void SkipSpace() { Advance(EndOfSpace(position_) - position_); }

 private:
  std::string source_;
  size_t position_ = 0;
  int line_ = 1;
};

// Appends the tokens up to and with the end of the tag: %} of a block, else }}. The cursor moves
// behind the end. Returns the sign before the end: '-', '+' or 0.
Result<char> LexExpression(Cursor& cursor, bool is_block, std::vector<Token>& out);

}  // namespace gdn::jinja
