// SPDX-License-Identifier: Apache-2.0
#include "bench_serve/load_run.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/str.h"
#include "bench_serve/statistics.h"
#include "io/json_file.h"

namespace gdn {
namespace {

constexpr size_t kMaxModelsBytes = size_t{1} << 20;
constexpr std::chrono::milliseconds kTick{100};

// An answer that is read as a whole.
class WholeReader : public HttpReader {
 public:
  void OnHead(int status) override { http_status = status; }
  void OnBody(std::string_view bytes) override {
    body += bytes.substr(0, kMaxModelsBytes - std::min(kMaxModelsBytes, body.size()));
  }
  void OnEnd(const Status& status) override { end = status; }

  int http_status = 0;
  std::string body;
  Status end;
};

class LoadRun {
 public:
  LoadRun(const LoadOptions& options, const std::vector<std::string>& bodies,
          const LoadHooks& hooks)
      : options_(options),
        bodies_(bodies),
        hooks_(hooks),
        loop_(options.url, options.api_key, options.timeout) {
    progress_.total = static_cast<int64_t>(bodies.size());
  }

  Result<LoadResult> Run() {
    GDN_RETURN_IF_ERROR(loop_.Resolve());
    for (size_t i = 0; i < bodies_.size(); ++i) {
      readers_.push_back(std::make_unique<AnswerReader>(
          options_.is_chat, [this](AnswerReader& reader) { OnEnd(reader); }));
    }
    start_ = BenchClock::now();
    if (options_.concurrency > 0) {
      const auto at_once = std::min(options_.concurrency, progress_.total);
      for (int64_t i = 0; i < at_once; ++i) SendNext();
    } else {
      for (const double at :
           PoissonArrivals(progress_.total, options_.request_rate, options_.seed)) {
        // Arrivals at small rates are further away than 64 bits of nanoseconds.
        constexpr double kLongestSeconds = 1e9;
        const double seconds = std::min(at, kLongestSeconds);
        loop_.After(std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9)),
                    [this] { SendNext(); });
      }
    }
    loop_.After({}, [this] { Tick(); });
    loop_.Run();
    if (stopped_) return Cancelled("interrupted");
    return Collect();
  }

 private:
  void SendNext() {
    if (next_ == bodies_.size()) return;
    AnswerReader& reader = *readers_[next_];
    ++progress_.running;
    most_running_ = std::max(most_running_, progress_.running);
    reader.answer().start = BenchClock::now();
    const char* target = options_.is_chat ? "/v1/chat/completions" : "/v1/completions";
    loop_.Send({target, bodies_[next_++]}, reader);
  }

  void OnEnd(AnswerReader& reader) {
    --progress_.running;
    ++progress_.done;
    if (!reader.answer().error.empty()) ++progress_.failed;
    if (options_.concurrency > 0) SendNext();
  }

  void Tick() {
    if (progress_.done == progress_.total) return;
    if (hooks_.on_progress) hooks_.on_progress(progress_);
    if (hooks_.stop && hooks_.stop()) {
      stopped_ = true;
      return loop_.Stop();
    }
    loop_.After(kTick, [this] { Tick(); });
  }

  LoadResult Collect() {
    LoadResult result{.most_running = most_running_};
    BenchClock::time_point end = start_;
    for (const auto& reader : readers_) {
      end = std::max(end, reader->answer().end);
      result.answers.push_back(std::move(reader->answer()));
    }
    result.seconds = std::chrono::duration<double>(end - start_).count();
    return result;
  }

  const LoadOptions& options_;
  const std::vector<std::string>& bodies_;
  const LoadHooks& hooks_;
  std::vector<std::unique_ptr<AnswerReader>> readers_;
  HttpLoop loop_;  // ends before the readers
  BenchProgress progress_;
  BenchClock::time_point start_;
  size_t next_ = 0;
  int64_t most_running_ = 0;
  bool stopped_ = false;
};

}  // namespace

Result<std::string> FirstModel(const LoadOptions& options) {
  constexpr const char* kTarget = "/v1/models";
  HttpLoop loop(options.url, options.api_key, options.timeout);
  GDN_RETURN_IF_ERROR(loop.Resolve());
  WholeReader reader;
  loop.Send({kTarget, ""}, reader);
  loop.Run();
  GDN_RETURN_IF_ERROR(reader.end);
  const std::string name = options.url.Text() + kTarget;
  if (reader.http_status / 100 != 2) {
    return Unavailable(StrCat(name, ": ", DescribeRefusal(reader.http_status, reader.body)));
  }
  GDN_ASSIGN_OR_RETURN(const nlohmann::json parsed, ParseJson(reader.body, name));
  const nlohmann::json::json_pointer place("/data/0/id");
  if (!parsed.contains(place) || !parsed[place].is_string()) {
    return InvalidArgument(StrCat(name, ": names no model, want --model"));
  }
  return parsed[place].get<std::string>();
}

Result<LoadResult> RunLoad(const LoadOptions& options, const std::vector<std::string>& bodies,
                           const LoadHooks& hooks) {
  return LoadRun(options, bodies, hooks).Run();
}

}  // namespace gdn
