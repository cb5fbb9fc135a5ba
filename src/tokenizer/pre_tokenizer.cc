// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/pre_tokenizer.h"

#include <span>
#include <string>

namespace gdn {
namespace {

struct Range {
  size_t begin;
  size_t end;
  bool is_match;
};

// The matches and the texts between them, which cover text.
Status Cover(const SplitStep& step, std::string_view text, MatchScratch& scratch,
             std::vector<Range>& ranges) {
  size_t covered = 0;
  GDN_RETURN_IF_ERROR(step.pattern.FindAll(text, scratch, [&](size_t begin, size_t end) {
    if (covered < begin) ranges.push_back({covered, begin, step.invert});
    ranges.push_back({begin, end, !step.invert});
    covered = end;
  }));
  if (covered < text.size()) ranges.push_back({covered, text.size(), step.invert});
  return OkStatus();
}

// Joins ranges to pieces in place.
void ApplyBehavior(SplitBehavior behavior, std::vector<Range>& ranges) {
  if (behavior == SplitBehavior::kIsolated) return;
  if (behavior == SplitBehavior::kRemoved) {
    std::erase_if(ranges, [](const Range& range) { return range.is_match; });
    return;
  }
  size_t count = 0;
  // Whether the range before was a match; what a first match joins to is nothing.
  bool previous = false;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const Range range = ranges[i];
    bool joins = false;
    if (behavior == SplitBehavior::kContiguous) joins = range.is_match == previous;
    if (behavior == SplitBehavior::kMergedWithPrevious) joins = range.is_match && !previous;
    if (behavior == SplitBehavior::kMergedWithNext) joins = !range.is_match && previous;
    previous = range.is_match;
    if (joins && count > 0) {
      ranges[count - 1].end = range.end;
    } else {
      ranges[count++] = range;
    }
  }
  ranges.resize(count);
}

Status Split(std::span<const SplitStep> steps, std::string_view text, MatchScratch& scratch,
             FunctionRef<Status(std::string_view)> on_piece) {
  if (text.empty()) return OkStatus();
  if (steps.empty()) return on_piece(text);
  std::vector<Range> ranges;
  GDN_RETURN_IF_ERROR(Cover(steps.front(), text, scratch, ranges));
  ApplyBehavior(steps.front().behavior, ranges);
  for (const Range& range : ranges) {
    GDN_RETURN_IF_ERROR(Split(steps.subspan(1), text.substr(range.begin, range.end - range.begin),
                              scratch, on_piece));
  }
  return OkStatus();
}

}  // namespace

Status PreTokenizer::Run(std::string_view text, MatchScratch& scratch,
                         FunctionRef<Status(std::string_view)> on_piece) const {
  std::string prefixed;
  return Split(splits, text, scratch, [&](std::string_view piece) {
    if (add_prefix_space && !piece.starts_with(' ')) {
      prefixed.assign(1, ' ').append(piece);
      piece = prefixed;
    }
    return Split(byte_level, piece, scratch, on_piece);
  });
}

}  // namespace gdn
