// SPDX-License-Identifier: Apache-2.0
// The answer to a request as it comes. Made by Session; may outlive it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/function_ref.h"
#include "session/generation.h"

namespace gdn {

struct StreamState;

// One thread at a time; Cancel from any.
class Stream {
 public:
  explicit Stream(std::shared_ptr<StreamState> state);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // Cancels what still runs.
  ~Stream();

  const std::vector<int32_t>& prompt_tokens() const;
  std::chrono::steady_clock::time_point submitted() const;

  // The next chunk, in the order in which they came; waits for it. None once every completion has
  // ended.
  std::optional<Chunk> Next();
  // The same, but waits no longer than timeout: then nothing, and ended() is false.
  std::optional<Chunk> NextFor(std::chrono::milliseconds timeout);
  // Calls ready once, as soon as Next() would not wait: now, or later from the engine's thread,
  // which it must not hold up. Replaces what an earlier call left waiting. ready must not throw; it
  // may own the stream.
  void OnReady(std::function<void()> ready);
  // Every completion has ended and its chunks have been read.
  bool ended() const;

  // Ends every completion that still runs, as kCancelled, within one step of the engine.
  void Cancel();

 private:
  // With the lock held.
  bool IsReady() const;
  std::optional<Chunk> Take();

  std::shared_ptr<StreamState> state_;
};

// Reads to the end. on_chunk sees each chunk; keep_going is asked now and then, and cancels when it
// says no. Errors: that of the first completion that ended with one.
Result<std::vector<Completion>> Collect(Stream& stream, FunctionRef<void(const Chunk&)> on_chunk,
                                        FunctionRef<bool()> keep_going);

}  // namespace gdn
