// SPDX-License-Identifier: Apache-2.0
// The thread that drives the engine: takes requests and cancellations from any thread, turns the
// engine's tokens into the chunks of their streams.
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "engine/engine.h"
#include "session/inbox.h"
#include "session/text_stream.h"
#include "tokenizer/tokenizer.h"

namespace gdn {

// How the engine stands after a step.
struct EngineStats {
  int64_t num_running = 0;
  int64_t num_waiting = 0;
  int64_t num_free_slots = 0;
  int64_t num_free_blocks = 0;
  int64_t num_snapshots = 0;  // in use
  int64_t num_preemptions = 0;
  size_t swapped_bytes = 0;
  int64_t num_prompt_tokens = 0;  // of all completions that have a token
  int64_t num_cached_tokens = 0;  // of them, not computed
  int64_t num_new_tokens = 0;
  bool has_failed = false;  // for good: memory ran out within a step, and every request is lost
};

class EngineLoop {
 public:
  // tokenizer outlives it. Errors: kInternal where the system gives no thread.
  static Result<std::unique_ptr<EngineLoop>> Start(std::unique_ptr<Engine> engine,
                                                   const Tokenizer& tokenizer);
  EngineLoop(const EngineLoop&) = delete;
  EngineLoop& operator=(const EngineLoop&) = delete;
  // Ends every completion as kCancelled, then the thread.
  ~EngineLoop();

  // From any thread.
  Status Validate(const Request& request) const { return engine_->Validate(request); }
  void Submit(Job job) { inbox_->Submit(std::move(job)); }
  // Forgets every prompt that no running request stands on, before it begins what comes later.
  void ClearPrefixCache() { inbox_->ClearPrefixCache(); }
  EngineStats stats() const;
  const std::shared_ptr<Inbox>& inbox() const { return inbox_; }

 private:
  // A completion that the engine runs.
  struct Active {
    std::shared_ptr<StreamState> stream;
    int64_t completion;
    bool log_probs;
    TextStream text;
    bool has_token = false;
  };

  EngineLoop(std::unique_ptr<Engine> engine, const Tokenizer& tokenizer);

  void Run();
  void Step();
  void Begin(Job& job);
  void SubmitAll(Job& job);
  void Cancel(uint64_t job);
  void OnEvent(const TokenEvent& event);
  bool Tell(Active& active, const TokenEvent& event);
  // Ends a completion that the engine has not ended.
  void End(RequestId id, FinishReason finish, const Status& error);
  void EndAll(FinishReason finish, const Status& error);
  void Publish();

  std::unique_ptr<Engine> engine_;  // of the thread alone but for Validate
  const Tokenizer& tokenizer_;
  std::shared_ptr<Inbox> inbox_;  // streams may outlive the loop
  std::unordered_map<RequestId, Active> active_;
  EngineStats counted_;  // of the thread alone
  bool failed_ = false;  // the engine ran out of memory in a step: every request is refused since
  mutable std::mutex stats_mutex_;
  EngineStats stats_;
  std::thread thread_;
};

}  // namespace gdn
