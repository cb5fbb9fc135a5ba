// SPDX-License-Identifier: Apache-2.0
// Splits a reply that comes in pieces into its reasoning and its answer. Models mark the reasoning
// with <think> and </think>; where the prompt has opened it already, the reply starts inside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gdn {

enum class ReasoningStart : uint8_t {
  kNever,   // no reasoning is looked for: all is answer
  kMarked,  // a reply that begins with <think> begins with reasoning
  kInside,  // the prompt ends inside
};

// The start for the reply to a prompt that ends with this text: kInside after an open <think>,
// white space aside. continued: the part of a reply that the prompt ends with, if any.
ReasoningStart ReasoningStartAfter(std::string_view prompt, std::string_view continued);

class ReasoningSplitter {
 public:
  explicit ReasoningSplitter(ReasoningStart start);

  struct Parts {
    std::string reasoning;
    std::string text;
  };
  // What is certain with this piece. Line breaks around the reasoning belong to neither part: chat
  // templates drop them when they see the reply again.
  Parts Append(std::string_view piece);
  // The rest, when no more text comes.
  Parts Flush();

 private:
  enum class State : uint8_t { kStart, kReasoning, kAfter, kText };

  void Advance(Parts& out, bool end);

  State state_;
  bool at_start_of_reasoning_ = true;
  std::string pending_;
};

}  // namespace gdn
