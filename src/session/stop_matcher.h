// SPDX-License-Identifier: Apache-2.0
// Finds stop strings in text that comes in pieces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace gdn {

// Errors: kInvalidArgument for an empty stop string, one that is not UTF-8 or has more than 1024
// bytes, more than 64.
Status ValidateStopStrings(const std::vector<std::string>& stops);

// Lets text through as soon as no stop string can begin in it any more. The text ends before the
// stop string that is complete first, and of those the longest.
class StopMatcher {
 public:
  // stops are valid.
  explicit StopMatcher(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // What of the text so far is certain and not yet returned. Nothing more once stopped().
  std::string Append(std::string_view piece);
  // The rest, when no more text comes.
  std::string Flush();
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string pending_;
  bool stopped_ = false;
};

}  // namespace gdn
