// SPDX-License-Identifier: Apache-2.0
// What the engine's thread and the reader of a stream share.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "session/generation.h"

namespace gdn {

class Inbox;

struct StreamState {
  std::shared_ptr<Inbox> inbox;  // where cancellations go
  uint64_t job = 0;              // its number there
  std::vector<int32_t> prompt_tokens;
  std::chrono::steady_clock::time_point submitted;

  std::atomic<bool> cancelled{false};  // asked for; once is enough

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Chunk> chunks;        // not read yet
  int64_t num_unended = 0;         // completions whose last chunk has not been read
  std::vector<uint8_t> ended;      // [completions] of those whose last chunk has been
  bool lost = false;               // no memory for chunks: the rest ends with an error
  std::function<void()> on_ready;  // wanted by the reader; called once, without the lock
};

}  // namespace gdn
