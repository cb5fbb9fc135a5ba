// SPDX-License-Identifier: Apache-2.0
#include "session/stream.h"

#include <algorithm>
#include <utility>

#include "session/inbox.h"
#include "session/stream_state.h"

namespace gdn {
namespace {

using Clock = std::chrono::steady_clock;

// How often Collect asks whether to go on while nothing comes.
constexpr std::chrono::milliseconds kPatience(50);

double MillisecondsBetween(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - start).count();
}

void Add(const Chunk& chunk, Clock::time_point submitted, Completion& out) {
  out.text += chunk.text;
  out.reasoning += chunk.reasoning;
  out.finish = chunk.finish;
  if (chunk.token < 0) return;
  out.tokens.push_back(chunk.token);
  out.num_cached_tokens = chunk.num_cached_tokens;
  if (chunk.log_prob.has_value()) out.log_probs.push_back(*chunk.log_prob);
  if (!chunk.top_logits.empty()) out.top_logits.push_back(chunk.top_logits);
  const double since = MillisecondsBetween(submitted, chunk.time);
  if (out.tokens.size() == 1) {
    out.prompt_ms = since;
  } else {
    out.gen_ms = since - out.prompt_ms;
  }
}

}  // namespace

Stream::Stream(std::shared_ptr<StreamState> state) : state_(std::move(state)) {}

Stream::~Stream() {
  if (!ended()) Cancel();
}

const std::vector<int32_t>& Stream::prompt_tokens() const { return state_->prompt_tokens; }

Clock::time_point Stream::submitted() const { return state_->submitted; }

std::optional<Chunk> Stream::Take() {
  Chunk chunk;
  if (!state_->chunks.empty()) {
    chunk = std::move(state_->chunks.front());
    state_->chunks.pop_front();
  } else if (state_->lost && state_->num_unended > 0) {
    const auto first = std::ranges::find(state_->ended, 0);
    chunk.completion = first - state_->ended.begin();
    chunk.finish = FinishReason::kError;
    chunk.error = OutOfMemory("the answer is lost: out of memory");
    chunk.time = Clock::now();
  } else {
    return std::nullopt;
  }
  if (chunk.finish != FinishReason::kNone) {
    --state_->num_unended;
    state_->ended[static_cast<size_t>(chunk.completion)] = 1;
  }
  return chunk;
}

bool Stream::IsReady() const {
  return !state_->chunks.empty() || state_->lost || state_->num_unended == 0;
}

std::optional<Chunk> Stream::Next() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return IsReady(); });
  return Take();
}

std::optional<Chunk> Stream::NextFor(std::chrono::milliseconds timeout) {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, timeout, [&] { return IsReady(); });
  return Take();
}

void Stream::OnReady(std::function<void()> ready) {
  {
    const std::lock_guard lock(state_->mutex);
    // What is replaced goes out of the lock with ready: it may own whatever it likes.
    if (!IsReady()) {
      state_->on_ready.swap(ready);
      return;
    }
  }
  ready();
}

bool Stream::ended() const {
  const std::lock_guard lock(state_->mutex);
  return state_->num_unended == 0;
}

void Stream::Cancel() {
  if (!state_->cancelled.exchange(true)) state_->inbox->Cancel(state_->job);
}

Result<std::vector<Completion>> Collect(Stream& stream, FunctionRef<void(const Chunk&)> on_chunk,
                                        FunctionRef<bool()> keep_going) {
  std::vector<Completion> out;
  Status error;
  bool cancelled = false;
  while (!stream.ended()) {
    if (!cancelled && !keep_going()) {
      stream.Cancel();
      cancelled = true;
    }
    const std::optional<Chunk> chunk = stream.NextFor(kPatience);
    if (!chunk.has_value()) continue;
    if (chunk->finish == FinishReason::kError && error.ok()) error = chunk->error;
    out.resize(std::max(out.size(), static_cast<size_t>(chunk->completion) + 1));
    Add(*chunk, stream.submitted(), out[static_cast<size_t>(chunk->completion)]);
    on_chunk(*chunk);
  }
  GDN_RETURN_IF_ERROR(error);
  return out;
}

}  // namespace gdn
