// SPDX-License-Identifier: Apache-2.0
#include "session/engine_loop.h"

#include <new>
#include <system_error>
#include <utility>
#include <vector>

#include "base/str.h"

namespace gdn {
namespace {

// Where there is no memory for what a reader is to get, the reader is told so without any.
void Lose(StreamState& stream) noexcept {
  std::function<void()> ready;
  {
    const std::lock_guard lock(stream.mutex);
    stream.lost = true;
    stream.changed.notify_all();
    ready.swap(stream.on_ready);
  }
  if (ready) ready();
}

void Send(StreamState& stream, Chunk chunk) {
  chunk.time = std::chrono::steady_clock::now();
  std::function<void()> ready;
  {
    const std::lock_guard lock(stream.mutex);
    if (stream.lost) return;
    stream.chunks.push_back(std::move(chunk));
    stream.changed.notify_all();
    ready.swap(stream.on_ready);
  }
  if (ready) ready();
}

}  // namespace

EngineLoop::EngineLoop(std::unique_ptr<Engine> engine, const Tokenizer& tokenizer)
    : engine_(std::move(engine)), tokenizer_(tokenizer), inbox_(std::make_shared<Inbox>()) {
  Publish();
}

Result<std::unique_ptr<EngineLoop>> EngineLoop::Start(std::unique_ptr<Engine> engine,
                                                      const Tokenizer& tokenizer) {
  std::unique_ptr<EngineLoop> loop(new EngineLoop(std::move(engine), tokenizer));
  try {
    loop->thread_ = std::thread([&self = *loop] { self.Run(); });
  } catch (const std::system_error& error) {
    return Internal(StrCat("the engine's thread cannot be started: ", error.what()));
  }
  return loop;
}

EngineLoop::~EngineLoop() {
  if (!thread_.joinable()) return;
  inbox_->Stop();
  thread_.join();
}

EngineStats EngineLoop::stats() const {
  const std::lock_guard lock(stats_mutex_);
  return stats_;
}

void EngineLoop::Run() {
  for (;;) {
    Inbox::Orders orders = inbox_->Take(/*wait=*/failed_ || !engine_->HasWork());
    // First: what was submitted after the order finds nothing of before.
    if (orders.clear_prefix_cache && !failed_) engine_->ClearPrefixCache();
    for (Job& job : orders.jobs) Begin(job);
    for (const uint64_t job : orders.cancelled) Cancel(job);
    if (orders.stop) break;
    if (!failed_) Step();
    Publish();
  }
  EndAll(FinishReason::kCancelled, OkStatus());
  Publish();
}

void EngineLoop::Step() {
  try {
    // A step with a long prompt takes a while, in which others look at the figures.
    const Status status =
        engine_->Step([this](const TokenEvent& event) { OnEvent(event); }, [this] { Publish(); });
    if (!status.ok()) EndAll(FinishReason::kError, status);
  } catch (const std::bad_alloc&) {
    // The engine stopped somewhere in its books: nothing of it can be used any more.
    failed_ = true;
    for (const auto& [id, active] : active_) Lose(*active.stream);
    active_.clear();
  }
}

void EngineLoop::Begin(Job& job) {
  if (failed_) return Lose(*job.stream);
  try {
    SubmitAll(job);
  } catch (const std::bad_alloc&) {
    // What of the job was submitted runs unheard.
    Lose(*job.stream);
  }
}

void EngineLoop::SubmitAll(Job& job) {
  for (size_t i = 0; i < job.requests.size(); ++i) {
    Request& request = job.requests[i];
    const bool log_probs = request.log_probs;
    const int64_t min_new_tokens = request.min_new_tokens;
    const auto completion = static_cast<int64_t>(i);
    const Result<RequestId> id = engine_->Submit(std::move(request));
    if (!id.ok()) {
      Send(*job.stream,
           {.completion = completion, .finish = FinishReason::kError, .error = id.status()});
      continue;
    }
    active_.emplace(*id, Active{.stream = job.stream,
                                .completion = completion,
                                .log_probs = log_probs,
                                .text = {tokenizer_, job.stop, job.reasoning, min_new_tokens}});
  }
}

void EngineLoop::Cancel(uint64_t job) {
  std::vector<RequestId> ids;
  for (const auto& [id, active] : active_) {
    if (active.stream->job == job) ids.push_back(id);
  }
  for (const RequestId id : ids) End(id, FinishReason::kCancelled, OkStatus());
}

void EngineLoop::End(RequestId id, FinishReason finish, const Status& error) {
  engine_->Cancel(id);
  OnEvent({.request = id, .finish = finish, .error = error});
}

void EngineLoop::EndAll(FinishReason finish, const Status& error) {
  std::vector<RequestId> ids;
  for (const auto& [id, active] : active_) ids.push_back(id);
  for (const RequestId id : ids) End(id, finish, error);
}

void EngineLoop::OnEvent(const TokenEvent& event) {
  const auto it = active_.find(event.request);
  if (it == active_.end()) return;  // ended here already, by a stop string or a cancellation
  bool ended = true;
  try {
    ended = Tell(it->second, event);
  } catch (const std::bad_alloc&) {
    Lose(*it->second.stream);
  }
  if (!ended) return;
  active_.erase(it);
  if (event.finish == FinishReason::kNone) engine_->Cancel(event.request);
}

// True where the completion has ended.
bool EngineLoop::Tell(Active& active, const TokenEvent& event) {
  Chunk chunk{.completion = active.completion,
              .token = event.token,
              .num_cached_tokens = event.num_cached_tokens,
              .finish = event.finish,
              .error = event.error};
  if (event.token >= 0) {
    if (event.finish != FinishReason::kStop) {  // else it is the stop token
      ReasoningSplitter::Parts parts = active.text.Append(event.token);
      chunk.text = std::move(parts.text);
      chunk.reasoning = std::move(parts.reasoning);
    }
    chunk.top_logits.assign(event.top_logits.begin(), event.top_logits.end());
    if (active.log_probs) {
      chunk.log_sum_exp = event.log_sum_exp;
      chunk.log_prob = event.logit - event.log_sum_exp;
    }
    ++counted_.num_new_tokens;
    if (!std::exchange(active.has_token, true)) {
      counted_.num_prompt_tokens += static_cast<int64_t>(active.stream->prompt_tokens.size());
      counted_.num_cached_tokens += event.num_cached_tokens;
    }
  }
  if (active.text.stopped()) chunk.finish = FinishReason::kStop;
  if (chunk.finish != FinishReason::kNone) {
    ReasoningSplitter::Parts rest = active.text.Flush();
    chunk.text += rest.text;
    chunk.reasoning += rest.reasoning;
  }
  const bool ended = chunk.finish != FinishReason::kNone;
  Send(*active.stream, std::move(chunk));
  return ended;
}

void EngineLoop::Publish() {
  counted_.num_running = engine_->num_running();
  counted_.num_waiting = engine_->num_waiting();
  counted_.num_free_slots = engine_->num_free_slots();
  counted_.num_free_blocks = engine_->num_free_blocks();
  counted_.num_snapshots = engine_->prefix_cache().num_used_snapshots();
  counted_.num_preemptions = engine_->num_preemptions();
  counted_.swapped_bytes = engine_->swapped_bytes();
  counted_.has_failed = failed_;
  const std::lock_guard lock(stats_mutex_);
  stats_ = counted_;
}

}  // namespace gdn
