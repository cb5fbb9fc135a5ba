// SPDX-License-Identifier: Apache-2.0
#include "session/reasoning_splitter.h"

#include <algorithm>

#include "session/partial_match.h"

namespace gdn {
namespace {

constexpr std::string_view kOpen = "<think>";
constexpr std::string_view kClose = "</think>";
constexpr std::string_view kSpace = " \t\r\n";

size_t LineBreaksAtEnd(std::string_view text) {
  const size_t last = text.find_last_not_of('\n');
  return last == std::string_view::npos ? text.size() : text.size() - last - 1;
}

}  // namespace

ReasoningStart ReasoningStartAfter(std::string_view prompt, std::string_view continued) {
  if (!continued.empty()) {
    const size_t open = continued.rfind(kOpen);
    const size_t close = continued.rfind(kClose);
    if (open != std::string_view::npos && (close == std::string_view::npos || close < open)) {
      return ReasoningStart::kInside;
    }
    // The answer itself has begun.
    return ReasoningStart::kNever;
  }
  const size_t last = prompt.find_last_not_of(kSpace);
  if (last != std::string_view::npos && prompt.substr(0, last + 1).ends_with(kOpen)) {
    return ReasoningStart::kInside;
  }
  return ReasoningStart::kMarked;
}

ReasoningSplitter::ReasoningSplitter(ReasoningStart start)
    : state_(start == ReasoningStart::kNever    ? State::kText
             : start == ReasoningStart::kInside ? State::kReasoning
                                                : State::kStart) {}

ReasoningSplitter::Parts ReasoningSplitter::Append(std::string_view piece) {
  Parts out;
  pending_ += piece;
  Advance(out, /*end=*/false);
  return out;
}

ReasoningSplitter::Parts ReasoningSplitter::Flush() {
  Parts out;
  Advance(out, /*end=*/true);
  return out;
}

// Moves what is certain out of pending_, state by state.
void ReasoningSplitter::Advance(Parts& out, bool end) {
  if (state_ == State::kStart) {
    const size_t first = std::min(pending_.find_first_not_of(kSpace), pending_.size());
    const std::string_view rest = std::string_view(pending_).substr(first);
    if (rest.starts_with(kOpen)) {
      pending_.erase(0, first + kOpen.size());
      state_ = State::kReasoning;
    } else if (end || !kOpen.starts_with(rest)) {
      state_ = State::kText;
    } else {
      return;
    }
  }
  if (state_ == State::kReasoning) {
    if (at_start_of_reasoning_) {
      pending_.erase(0, pending_.find_first_not_of('\n'));
      if (pending_.empty()) return;
      at_start_of_reasoning_ = false;
    }
    const size_t close = pending_.find(kClose);
    const bool found = close != std::string::npos;
    std::string_view certain = std::string_view(pending_).substr(0, close);
    if (!found && !end) certain.remove_suffix(OpenBytes(certain, kClose));
    const size_t taken = certain.size();
    const size_t breaks = LineBreaksAtEnd(certain);
    certain.remove_suffix(breaks);
    out.reasoning += certain;
    // Line breaks before what may be the marker wait with it.
    pending_.erase(0, found ? close + kClose.size() : end ? taken : taken - breaks);
    if (!found) return;
    state_ = State::kAfter;
  }
  if (state_ == State::kAfter) {
    pending_.erase(0, pending_.find_first_not_of('\n'));
    if (pending_.empty()) return;
    state_ = State::kText;
  }
  out.text += pending_;
  pending_.clear();
}

}  // namespace gdn
