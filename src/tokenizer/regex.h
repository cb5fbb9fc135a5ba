// SPDX-License-Identifier: Apache-2.0
// A compiled pattern over valid UTF-8, with bounds on what a hostile one may cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/function_ref.h"
#include "base/status.h"

namespace gdn {

// The work of one thread on one text: memory of the matcher, and the processor time that all its
// patterns may take together before they give up.
class MatchScratch {
 public:
  explicit MatchScratch(size_t text_bytes);
  ~MatchScratch();
  MatchScratch(const MatchScratch&) = delete;
  MatchScratch& operator=(const MatchScratch&) = delete;

 private:
  friend class Regex;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Regex {
 public:
  // pattern as in a tokenizer.json: see regex_translate.h.
  static Result<Regex> Compile(std::string_view pattern);
  static Result<Regex> CompileLiteral(std::string_view text);

  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // Calls on_match(begin, end) for the matches in text, valid UTF-8, from left to right. They do
  // not overlap; an empty one is never where the one before ended. Safe from many threads, each
  // with its scratch. Error: the pattern costs too much time or memory for this text.
  Status FindAll(std::string_view text, MatchScratch& scratch,
                 FunctionRef<void(size_t begin, size_t end)> on_match) const;

 private:
  struct Impl;
  explicit Regex(std::unique_ptr<Impl> impl);
  static Result<Regex> Build(std::string_view pattern, uint32_t options);

  std::unique_ptr<Impl> impl_;
};

}  // namespace gdn
