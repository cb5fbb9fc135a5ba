// SPDX-License-Identifier: Apache-2.0
// One request for text on its way: reads the engine's streams as they come and writes the answer,
// at once or as events. Never waits.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/answer.h"
#include "server/api_error.h"
#include "server/generation_request.h"
#include "server/http_types.h"
#include "server/metrics.h"
#include "session/session.h"

namespace gdn {

// The place that completions take among those that may run and wait.
class Reservation {
 public:
  // Nothing where they are too many; a request alone is always taken.
  static std::optional<Reservation> Make(std::atomic<int64_t>& num_unfinished, int64_t completions,
                                         int64_t max_unfinished);
  Reservation(Reservation&& other) noexcept
      : num_unfinished_(other.num_unfinished_),
        completions_(std::exchange(other.completions_, 0)) {}
  Reservation& operator=(Reservation&&) = delete;
  ~Reservation() { num_unfinished_ -= completions_; }

 private:
  Reservation(std::atomic<int64_t>& num_unfinished, int64_t completions)
      : num_unfinished_(num_unfinished), completions_(completions) {}

  std::atomic<int64_t>& num_unfinished_;
  int64_t completions_;
};

// What all requests use; outlives them.
struct GenerationContext {
  Session& session;
  Metrics& metrics;
  std::string model_name;
  int64_t max_unfinished = 0;            // completions that run and wait at most
  std::atomic<int64_t>& num_unfinished;  // of requests that have not ended
  std::vector<std::pair<std::string, std::string>> headers;  // of every answer
};

// Encodes, checks and submits the request; the answer, be it an error, goes to responder.
void Generate(const GenerationContext& context, const GenerationRequest& request,
              std::shared_ptr<Responder> responder);

// The prompts of a request, at least one. Errors: those of the tokenizer and the chat template.
Result<std::vector<Prompt>> EncodePrompts(const Session& session, const GenerationRequest& request);

class GenerationTask : public std::enable_shared_from_this<GenerationTask> {
 public:
  // streams: one a prompt, each with num_completions.
  GenerationTask(GenerationContext context, const GenerationRequest& request,
                 Reservation reservation, std::vector<std::unique_ptr<Stream>> streams,
                 std::shared_ptr<Responder> responder);

  // Keeps itself alive until the engine has ended every completion.
  void Start();

 private:
  using Clock = std::chrono::steady_clock;
  struct Progress {
    Choice choice;                               // so far; in a stream what has not been written
    std::optional<ToolCallSplitter> tool_calls;  // where the request has tools
    Clock::time_point last;                      // when the last token was there
    bool has_token = false;
    bool has_news = false;  // tokens since the last event, be they without text
  };

  void Await(size_t stream);
  void Drain(size_t stream);
  void Accept(size_t stream, const Chunk& chunk);
  void AcceptText(Progress& progress, const Chunk& chunk);
  void Measure(const Progress& progress, const Chunk& chunk, Clock::time_point submitted);
  void Flush(Progress& progress, std::string& events);
  void Fail(const ApiError& error);
  void Finish();
  void SendAnswer();
  void CancelAll();

  const GenerationContext context_;
  const Reservation reservation_;
  const bool is_stream_;
  const bool includes_usage_;
  const bool has_log_probs_;
  const bool has_parallel_calls_;
  const int64_t num_completions_;  // of each stream
  const std::shared_ptr<Responder> responder_;
  const std::vector<std::unique_ptr<Stream>> streams_;
  AnswerHead head_;
  std::vector<Progress> progress_;  // [streams * num_completions]
  Usage usage_;
  size_t num_open_streams_;
  bool is_over_ = false;  // nothing more is written
};

}  // namespace gdn
