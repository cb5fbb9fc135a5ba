// SPDX-License-Identifier: Apache-2.0
// Requests and cancellations on their way to the engine's thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "session/reasoning_splitter.h"
#include "session/stream_state.h"

namespace gdn {

// All completions of one stream; every request is valid.
struct Job {
  std::vector<Request> requests;  // one a completion
  std::vector<std::string> stop;
  ReasoningStart reasoning = ReasoningStart::kNever;
  std::shared_ptr<StreamState> stream;
};

class Inbox {
 public:
  // Numbers the job's stream.
  void Submit(Job job);
  // Of a stream; ended and unknown ones are ignored.
  void Cancel(uint64_t job);
  void ClearPrefixCache();
  void Stop();

  struct Orders {
    std::vector<Job> jobs;
    std::vector<uint64_t> cancelled;  // after the jobs
    bool clear_prefix_cache = false;
    bool stop = false;
  };
  // What has come since the last call; with wait, waits until there is something.
  Orders Take(bool wait);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Orders orders_;
  uint64_t next_job_ = 1;
};

}  // namespace gdn
