// SPDX-License-Identifier: Apache-2.0
#include "server/generation_task.h"

#include <ctime>
#include <utility>

namespace gdn {
namespace {

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

GenerationTask::GenerationTask(GenerationContext context, const GenerationRequest& request,
                               Reservation reservation,
                               std::vector<std::unique_ptr<Stream>> streams,
                               std::shared_ptr<Responder> responder)
    : context_(std::move(context)),
      reservation_(std::move(reservation)),
      is_stream_(request.stream),
      includes_usage_(request.include_usage),
      has_log_probs_(request.params.log_probs),
      has_parallel_calls_(request.parallel_tool_calls),
      num_completions_(request.params.num_completions),
      responder_(std::move(responder)),
      streams_(std::move(streams)),
      head_{.is_chat = request.is_chat,
            .id = NewId(request.is_chat ? "chatcmpl-" : "cmpl-"),
            .created = static_cast<int64_t>(std::time(nullptr)),
            .model = context_.model_name},
      progress_(streams_.size() * static_cast<size_t>(num_completions_)),
      num_open_streams_(streams_.size()) {
  std::shared_ptr<const nlohmann::ordered_json> tools;
  if (!request.chat.tools.empty() && context_.session.chat_format().marks_tool_calls()) {
    tools = std::make_shared<const nlohmann::ordered_json>(request.chat.tools);
  }
  for (size_t i = 0; i < progress_.size(); ++i) {
    progress_[i].choice.index = static_cast<int64_t>(i);
    progress_[i].choice.has_log_probs = has_log_probs_;
    if (tools != nullptr) progress_[i].tool_calls.emplace(tools);
  }
  for (const auto& stream : streams_) {
    usage_.prompt_tokens += static_cast<int64_t>(stream->prompt_tokens().size());
  }
}

void GenerationTask::Start() {
  responder_->OnClosed([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->CancelAll();
  });
  if (is_stream_) {
    HttpResponse head{.content_type = "text/event-stream", .headers = context_.headers};
    head.headers.emplace_back("Cache-Control", "no-cache");
    head.headers.emplace_back("X-Accel-Buffering", "no");  // of proxies that would hold events back
    responder_->Begin(std::move(head));
    std::string events;
    for (const Progress& progress : progress_) events += FirstEvent(head_, progress.choice.index);
    responder_->Write(std::move(events));
  }
  for (size_t i = 0; i < streams_.size(); ++i) Await(i);
}

void GenerationTask::Await(size_t stream) {
  streams_[stream]->OnReady([self = shared_from_this(), stream] {
    self->responder_->Post([self, stream] { self->Drain(stream); });
  });
}

void GenerationTask::Drain(size_t stream) {
  while (const auto chunk = streams_[stream]->NextFor(std::chrono::milliseconds(0))) {
    Accept(stream, *chunk);
  }
  if (is_stream_ && !is_over_) {
    std::string events;
    const size_t first = stream * static_cast<size_t>(num_completions_);
    for (int64_t i = 0; i < num_completions_; ++i) {
      Flush(progress_[first + static_cast<size_t>(i)], events);
    }
    if (!events.empty()) responder_->Write(std::move(events));
  }
  if (!streams_[stream]->ended()) {
    Await(stream);
  } else if (--num_open_streams_ == 0) {
    Finish();
  }
}

void GenerationTask::Accept(size_t stream, const Chunk& chunk) {
  const size_t first = stream * static_cast<size_t>(num_completions_);
  Progress& progress = progress_[first + static_cast<size_t>(chunk.completion)];
  Measure(progress, chunk, streams_[stream]->submitted());
  AcceptText(progress, chunk);
  Choice& choice = progress.choice;
  choice.finish = chunk.finish;
  if (chunk.token >= 0) {
    if (!progress.has_token && chunk.completion == 0) {
      usage_.cached_tokens += chunk.num_cached_tokens;
    }
    progress.has_token = true;
    progress.has_news = true;
    progress.last = chunk.time;
    ++usage_.completion_tokens;
    if (has_log_probs_) {
      choice.log_probs.push_back(LogProbOf(chunk, context_.session.tokenizer()));
    }
  }
  if (chunk.finish == FinishReason::kError) Fail(ApiErrorOf(chunk.error));
  if (chunk.finish == FinishReason::kCancelled) {
    Fail({.status = 503, .message = "the server stopped before the answer's end"});
  }
}

void GenerationTask::AcceptText(Progress& progress, const Chunk& chunk) {
  Choice& choice = progress.choice;
  choice.reasoning += chunk.reasoning;
  if (!progress.tool_calls.has_value()) {
    choice.text += chunk.text;
    return;
  }
  const auto take = [&](ToolCallSplitter::Parts parts) {
    choice.text += parts.text;
    for (ToolCall& call : parts.calls) {
      const bool is_first = choice.tool_calls.empty() && choice.num_earlier_calls == 0;
      if (is_first || has_parallel_calls_) choice.tool_calls.push_back(std::move(call));
    }
  };
  take(progress.tool_calls->Append(chunk.text));
  if (chunk.finish != FinishReason::kNone) take(progress.tool_calls->Flush());
}

void GenerationTask::Measure(const Progress& progress, const Chunk& chunk,
                             Clock::time_point submitted) {
  if (chunk.token >= 0 && !progress.has_token) {
    context_.metrics.ObserveFirstToken(Seconds(chunk.time - submitted));
  } else if (chunk.token >= 0) {
    context_.metrics.ObserveNextToken(Seconds(chunk.time - progress.last));
  }
  if (chunk.finish != FinishReason::kNone) {
    context_.metrics.ObserveEnd(chunk.finish, Seconds(chunk.time - submitted));
  }
}

// The part of a choice that has not been written, if there is any. A token without text, such as
// the first bytes of a character, is one: clients measure by when events come.
void GenerationTask::Flush(Progress& progress, std::string& events) {
  Choice& choice = progress.choice;
  if (!progress.has_news && choice.finish == FinishReason::kNone) return;
  events += ChoiceEvent(head_, choice);
  for (const TokenLogProb& token : choice.log_probs) {
    choice.text_offset += NumCharacters(token.bytes);
  }
  choice.text.clear();
  choice.reasoning.clear();
  choice.num_earlier_calls += static_cast<int64_t>(choice.tool_calls.size());
  choice.tool_calls.clear();
  choice.log_probs.clear();
  choice.finish = FinishReason::kNone;
  progress.has_news = false;
}

void GenerationTask::Fail(const ApiError& error) {
  if (is_over_) return;
  if (is_stream_) {
    responder_->Write(Event(ErrorJson(error)));
    responder_->End();
  } else {
    responder_->Send(ErrorResponse(error, context_.headers));
  }
  CancelAll();
}

void GenerationTask::Finish() {
  if (is_over_) return;
  is_over_ = true;
  if (is_stream_) {
    std::string events = includes_usage_ ? UsageEvent(head_, usage_) : "";
    events += kLastEvent;
    responder_->Write(std::move(events));
    responder_->End();
    return;
  }
  if (!has_log_probs_) return SendAnswer();
  // Of many tokens and alternatives that is a lot of text.
  responder_->Work([self = shared_from_this()] { self->SendAnswer(); });
}

void GenerationTask::SendAnswer() {
  std::vector<Choice> choices;
  for (Progress& progress : progress_) choices.push_back(std::move(progress.choice));
  responder_->Send({.body = AnswerJson(head_, choices, usage_), .headers = context_.headers});
}

void GenerationTask::CancelAll() {
  is_over_ = true;
  for (const auto& stream : streams_) stream->Cancel();
}

}  // namespace gdn
