// SPDX-License-Identifier: Apache-2.0
// Cuts text into the pieces that byte-pair encoding works on.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/status.h"
#include "tokenizer/regex.h"

namespace gdn {

// What becomes of the matches of a pattern, and of the text between them.
enum class SplitBehavior {
  kRemoved,             // only the text between is kept
  kIsolated,            // each match and each text between is a piece
  kMergedWithPrevious,  // a match ends the piece before it
  kMergedWithNext,      // a match starts the piece after it
  kContiguous,          // adjacent matches are one piece
};

struct SplitStep {
  Regex pattern;
  SplitBehavior behavior;
  bool invert;  // matches and the text between change roles
};

struct PreTokenizer {
  std::vector<SplitStep> splits;      // each cuts the pieces of the one before
  bool add_prefix_space = false;      // a space before each piece that starts with none
  std::vector<SplitStep> byte_level;  // the ByteLevel step's own pattern: one entry, or none

  // Calls on_piece for the pieces of text (valid UTF-8, not empty), in order, none empty. Stops at
  // the first error, of a pattern or of on_piece.
  Status Run(std::string_view text, MatchScratch& scratch,
             FunctionRef<Status(std::string_view piece)> on_piece) const;
};

}  // namespace gdn
