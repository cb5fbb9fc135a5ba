// SPDX-License-Identifier: Apache-2.0
// One streamed answer: what it said of its tokens, and when they came.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "bench_serve/http_loop.h"
#include "bench_serve/sse.h"

namespace gdn {

using BenchClock = std::chrono::steady_clock;

struct Answer {
  BenchClock::time_point start;
  BenchClock::time_point end;  // of the stream's last event, not of the connection
  std::vector<BenchClock::time_point> token_times;  // of the chunks that brought tokens
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;
  int64_t output_tokens = 0;  // as the server counts; its chunks where it does not
  bool counted = false;       // the server sent its usage
  std::string error;          // "": complete
};

// Reads the chunks of /v1/completions or /v1/chat/completions with "stream": true. An answer is
// complete with "data: [DONE]"; a status other than 2xx, an error among the chunks, and an end
// before that are failures, with the server's own words.
class AnswerReader : public HttpReader {
 public:
  // on_end is the last thing that it does.
  AnswerReader(bool is_chat, std::function<void(AnswerReader&)> on_end);

  Answer& answer() { return answer_; }

  void OnHead(int status) override;
  void OnBody(std::string_view bytes) override;
  void OnEnd(const Status& status) override;

 private:
  void OnChunk(std::string_view text);
  void Fail(std::string error);

  bool is_chat_;
  std::function<void(AnswerReader&)> on_end_;
  Answer answer_;
  SseParser sse_;
  int status_ = 0;
  bool done_ = false;
  std::string refusal_;  // the body of an answer that is no stream
};

// "HTTP 404: model is ..." from the body of an OpenAI-shaped error, or its beginning.
std::string DescribeRefusal(int status, const std::string& body);

}  // namespace gdn
