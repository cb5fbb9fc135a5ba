// SPDX-License-Identifier: Apache-2.0
#include "session/stop_matcher.h"

#include <algorithm>
#include <utility>

#include "base/str.h"
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

StopMatcher::StopMatcher(const std::vector<std::string>& stops) {
  for (const std::string& text : stops) {
    Stop& stop = stops_.emplace_back(Stop{.text = text, .borders = {0}});
    for (size_t i = 1, border = 0; i < text.size(); ++i) {
      while (border > 0 && text[i] != text[border]) border = stop.borders[border - 1];
      if (text[i] == text[border]) ++border;
      stop.borders.push_back(static_cast<uint16_t>(border));
    }
  }
}

size_t StopMatcher::Advance(char byte) {
  size_t complete = 0;
  for (Stop& stop : stops_) {
    if (stop.matched == stop.text.size()) stop.matched = stop.borders.back();
    while (stop.matched > 0 && stop.text[stop.matched] != byte) {
      stop.matched = stop.borders[stop.matched - 1];
    }
    if (stop.text[stop.matched] == byte) ++stop.matched;
    if (stop.matched == stop.text.size()) complete = std::max(complete, stop.matched);
  }
  return complete;
}

std::string StopMatcher::Append(std::string_view piece, bool may_stop) {
  if (stopped_) return {};
  for (const char byte : piece) {
    pending_ += byte;
    const size_t complete = Advance(byte);
    if (complete == 0 || !may_stop) continue;
    stopped_ = true;
    pending_.resize(pending_.size() - complete);
    return std::exchange(pending_, {});
  }
  size_t open = 0;
  for (const Stop& stop : stops_) {
    // One that was complete before it might stop leaves what may still become another.
    open = std::max<size_t>(open,
                            stop.matched == stop.text.size() ? stop.borders.back() : stop.matched);
  }
  std::string out = pending_.substr(0, pending_.size() - open);
  pending_.erase(0, out.size());
  return out;
}

std::string StopMatcher::Flush() { return std::exchange(pending_, {}); }

}  // namespace gdn
