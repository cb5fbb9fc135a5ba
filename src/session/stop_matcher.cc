// SPDX-License-Identifier: Apache-2.0
#include "session/stop_matcher.h"

#include <algorithm>
#include <utility>

#include "base/str.h"
#include "session/partial_match.h"
#include "tokenizer/utf8.h"

namespace gdn {
namespace {

constexpr size_t kMaxStops = 64;
constexpr size_t kMaxStopBytes = 1024;

}  // namespace

Status ValidateStopStrings(const std::vector<std::string>& stops) {
  if (stops.size() > kMaxStops) {
    return InvalidArgument(StrCat(stops.size(), " stop strings, want at most ", kMaxStops));
  }
  for (const std::string& stop : stops) {
    if (stop.empty()) return InvalidArgument("a stop string is empty, want at least one character");
    if (FindInvalidUtf8(stop) != std::string_view::npos) {
      return InvalidArgument(StrCat("the stop string ", Quoted(stop), " is not valid UTF-8"));
    }
    if (stop.size() > kMaxStopBytes) {
      return InvalidArgument(
          StrCat("a stop string has ", stop.size(), " bytes, want at most ", kMaxStopBytes));
    }
  }
  return OkStatus();
}

std::string StopMatcher::Append(std::string_view piece) {
  if (stopped_) return {};
  pending_ += piece;
  // By its end, then its beginning: so that the cut of the text into pieces does not matter.
  std::pair<size_t, size_t> first = {std::string::npos, 0};
  for (const std::string& stop : stops_) {
    const size_t begin = pending_.find(stop);
    if (begin != std::string::npos) first = std::min(first, {begin + stop.size(), begin});
  }
  if (first.first != std::string::npos) {
    stopped_ = true;
    pending_.resize(first.second);
    return std::exchange(pending_, {});
  }
  size_t open = 0;
  for (const std::string& stop : stops_) open = std::max(open, OpenBytes(pending_, stop));
  std::string out = pending_.substr(0, pending_.size() - open);
  pending_.erase(0, out.size());
  return out;
}

std::string StopMatcher::Flush() { return std::exchange(pending_, {}); }

}  // namespace gdn
