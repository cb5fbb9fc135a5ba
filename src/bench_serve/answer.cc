// SPDX-License-Identifier: Apache-2.0
#include "bench_serve/answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/str.h"
#include "io/json_file.h"

namespace gdn {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxRefusalBytes = size_t{64} << 10;
constexpr size_t kMaxQuotedBytes = 400;

bool HasText(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() &&
         !found->get_ref<const std::string&>().empty();
}

bool HasItems(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_array() && !found->empty();
}

// A chat begins with a chunk that names the role. A chunk of a completion has a token, which may be
// one without text, but for a last one that only says why it ends.
bool BringsTokens(const Json& choice, bool is_chat) {
  if (!choice.is_object()) return false;
  if (!is_chat) return HasText(choice, "text") || !HasText(choice, "finish_reason");
  const auto delta = choice.find("delta");
  if (delta == choice.end() || !delta->is_object()) return false;
  return HasText(*delta, "content") || HasText(*delta, "reasoning_content") ||
         HasText(*delta, "reasoning") || HasItems(*delta, "tool_calls");
}

// What no server can mean counts as nothing.
int64_t Count(const Json& usage, const char* key) {
  constexpr int64_t kMax = int64_t{1} << 40;
  const auto found = usage.find(key);
  if (found == usage.end() || !found->is_number_integer()) return 0;
  const auto count = found->get<int64_t>();
  return count >= 0 && count <= kMax ? count : 0;
}

void ReadUsage(const Json& usage, Answer& answer) {
  answer.counted = true;
  answer.prompt_tokens = Count(usage, "prompt_tokens");
  answer.output_tokens = Count(usage, "completion_tokens");
  const auto details = usage.find("prompt_tokens_details");
  if (details != usage.end() && details->is_object()) {
    answer.cached_tokens = Count(*details, "cached_tokens");
  }
}

// For one line of a terminal.
std::string OneLine(std::string_view text) {
  std::string line(text.substr(0, kMaxQuotedBytes));
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return line;
}

// The message of {"error": {"message": ..}}, {"error": ".."} or {"message": ..}; "" without one.
std::string MessageOf(const Json& body) {
  if (!body.is_object()) return "";
  const auto error = body.find("error");
  const Json& holder = error != body.end() && error->is_object() ? *error : body;
  for (const char* key : {"message", "error", "detail"}) {
    if (HasText(holder, key)) return OneLine(holder[key].get_ref<const std::string&>());
  }
  return "";
}

}  // namespace

std::string DescribeRefusal(int status, const std::string& body) {
  const Result<Json> parsed = ParseJson(body, "answer");
  std::string message = parsed.ok() ? MessageOf(*parsed) : "";
  if (message.empty()) message = OneLine(body);
  return StrCat("HTTP ", status, ": ", message);
}

AnswerReader::AnswerReader(bool is_chat, std::function<void(AnswerReader&)> on_end)
    : is_chat_(is_chat), on_end_(std::move(on_end)) {}

void AnswerReader::OnHead(int status) { status_ = status; }

void AnswerReader::OnBody(std::string_view bytes) {
  if (status_ / 100 != 2) {
    refusal_ += bytes.substr(0, kMaxRefusalBytes - std::min(kMaxRefusalBytes, refusal_.size()));
    return;
  }
  const Status status = sse_.Feed(bytes, [this](std::string_view data) { OnChunk(data); });
  if (!status.ok()) Fail(status.message());
}

void AnswerReader::OnChunk(std::string_view text) {
  const auto now = BenchClock::now();
  if (text == "[DONE]") {
    done_ = true;
    answer_.end = now;
    return;
  }
  const Result<Json> chunk = ParseJson(text, "chunk");
  if (!chunk.ok()) return Fail(chunk.status().message());
  if (!chunk->is_object()) return Fail(StrCat("a chunk is ", OneLine(text), ", want an object"));
  const auto error = chunk->find("error");
  if (error != chunk->end() && !error->is_null()) return Fail(MessageOf(*chunk));
  const auto choices = chunk->find("choices");
  if (choices != chunk->end() && choices->is_array()) {
    for (const Json& choice : *choices) {
      if (BringsTokens(choice, is_chat_)) answer_.token_times.push_back(now);
    }
  }
  const auto usage = chunk->find("usage");
  if (usage != chunk->end() && usage->is_object()) ReadUsage(*usage, answer_);
}

void AnswerReader::Fail(std::string error) {
  if (!answer_.error.empty()) return;
  answer_.error = error.empty() ? "an error without a message" : std::move(error);
}

void AnswerReader::OnEnd(const Status& status) {
  if (!done_) answer_.end = BenchClock::now();
  // Some servers close without the last chunk of the encoding: all that was asked for is there.
  if (!status.ok() && !done_) Fail(status.message());
  if (status.ok() && status_ / 100 != 2) Fail(DescribeRefusal(status_, refusal_));
  if (status.ok() && !done_) Fail("the answer ends without [DONE]");
  const bool has_tokens = !answer_.token_times.empty() || answer_.output_tokens > 0;
  if (status.ok() && status_ / 100 == 2 && !has_tokens) Fail("the answer has no token");
  if (!answer_.counted) answer_.output_tokens = static_cast<int64_t>(answer_.token_times.size());
  on_end_(*this);
}

}  // namespace gdn
