// SPDX-License-Identifier: Apache-2.0
// Finds stop strings in text that comes in pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gdn {

// Errors: kInvalidArgument for an empty stop string, one that is not UTF-8 or has more than 1024
// bytes, more than 64.
Status ValidateStopStrings(const std::vector<std::string>& stops);

// Lets text through as soon as no stop string can begin in it any more. The text ends before the
// stop string that is complete first, and of those the longest. Linear in the text, whatever it and
// the stop strings are (Knuth, Morris, Pratt): many requests share the thread that calls it.
class StopMatcher {
 public:
  // stops are valid.
  explicit StopMatcher(const std::vector<std::string>& stops);

  // What of the text so far is certain and not yet returned. Nothing more once stopped(). Without
  // may_stop no stop string ends in this piece; one that ends later may begin in it.
  std::string Append(std::string_view piece, bool may_stop = true);
  // The rest, when no more text comes.
  std::string Flush();
  bool stopped() const { return stopped_; }

 private:
  struct Stop {
    std::string text;
    // [i]: how many bytes the longest end of the first i + 1 has with which text, too, begins,
    // less than all of them.
    std::vector<uint16_t> borders;
    size_t matched = 0;  // bytes of text with which what came so far ends
  };
  // The length of the longest stop string that is complete with this byte; 0: none.
  size_t Advance(char byte);

  std::vector<Stop> stops_;
  std::string pending_;
  bool stopped_ = false;
};

}  // namespace gdn
