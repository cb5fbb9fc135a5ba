// SPDX-License-Identifier: Apache-2.0
#include "bench_serve/load_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "bench_serve/statistics.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

double Ms(BenchClock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

struct Sums {
  int64_t completed = 0;
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;
  int64_t output_tokens = 0;
  bool counted = true;
  std::vector<double> ttft;
  std::vector<double> tpot;
  std::vector<double> itl;
  std::vector<double> e2e;
  std::map<std::string, int64_t> errors;
};

void Add(const Answer& answer, Sums& sums) {
  if (!answer.error.empty()) {
    ++sums.errors[answer.error];
    return;
  }
  ++sums.completed;
  sums.prompt_tokens += answer.prompt_tokens;
  sums.cached_tokens += answer.cached_tokens;
  sums.output_tokens += answer.output_tokens;
  sums.counted = sums.counted && answer.counted;
  sums.e2e.push_back(Ms(answer.end - answer.start));
  const auto& times = answer.token_times;
  if (times.empty()) return;
  sums.ttft.push_back(Ms(times.front() - answer.start));
  for (size_t i = 1; i < times.size(); ++i) sums.itl.push_back(Ms(times[i] - times[i - 1]));
  if (answer.output_tokens > 1) {
    sums.tpot.push_back(Ms(answer.end - times.front()) /
                        static_cast<double>(answer.output_tokens - 1));
  }
}

Json ToJson(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  const Percentiles p = PercentilesOf(values);
  return {{"mean", p.mean}, {"p50", p.p50}, {"p90", p.p90}, {"p99", p.p99}};
}

Json ErrorsOf(const std::map<std::string, int64_t>& errors) {
  std::vector<std::pair<std::string, int64_t>> sorted(errors.begin(), errors.end());
  std::ranges::stable_sort(sorted, std::greater<>(),
                           [](const auto& entry) { return entry.second; });
  Json out = Json::array();
  for (const auto& [message, count] : sorted)
    out.push_back({{"message", message}, {"count", count}});
  return out;
}

}  // namespace

Json ReportOf(const LoadResult& result) {
  Sums sums;
  for (const Answer& answer : result.answers) Add(answer, sums);
  const auto per_second = [&result](int64_t count) {
    return result.seconds > 0 ? static_cast<double>(count) / result.seconds : 0.0;
  };
  return {{"completed", sums.completed},
          {"failed", static_cast<int64_t>(result.answers.size()) - sums.completed},
          {"errors", ErrorsOf(sums.errors)},
          {"duration_s", result.seconds},
          {"most_running", result.most_running},
          {"prompt_tokens", sums.prompt_tokens},
          {"cached_tokens", sums.cached_tokens},
          {"output_tokens", sums.output_tokens},
          {"tokens_counted_by", sums.counted ? "server" : "chunks"},
          {"requests_per_second", per_second(sums.completed)},
          {"output_tokens_per_second", per_second(sums.output_tokens)},
          {"total_tokens_per_second", per_second(sums.prompt_tokens + sums.output_tokens)},
          {"ttft_ms", ToJson(sums.ttft)},
          {"tpot_ms", ToJson(sums.tpot)},
          {"itl_ms", ToJson(sums.itl)},
          {"e2e_ms", ToJson(sums.e2e)}};
}

}  // namespace gdn
