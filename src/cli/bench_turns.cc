// SPDX-License-Identifier: Apache-2.0
// gdn bench --turns: the second turn of a conversation against the first.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/str.h"
#include "bench/turn_runner.h"
#include "cli/bench_options.h"
#include "cli/report.h"
#include "ops/common/simd_target.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

Result<std::vector<TurnJob>> TurnJobsOf(const BenchOptions& options) {
  if (options.only_without_turns) {
    return InvalidArgument(
        "--turns has one request and no depth: it takes no -d, no --concurrency "
        "and no --layers");
  }
  GDN_ASSIGN_OR_RETURN(const std::vector<int64_t> prompts, BenchCounts("-p", options.prompts));
  GDN_ASSIGN_OR_RETURN(const std::vector<int64_t> replies, BenchCounts("-n", options.generations));
  std::vector<TurnJob> jobs;
  for (const int64_t prompt : prompts) {
    for (const int64_t reply : replies) jobs.push_back({prompt, reply, options.message});
  }
  for (const TurnJob& job : jobs) {
    if (std::min({job.prompt, job.reply, job.message}) >= 1) continue;
    return InvalidArgument(
        StrCat("--turns wants -p, -n and --message of at least 1 token, they are ", job.prompt,
               ", ", job.reply, " and ", job.message));
  }
  return jobs;
}

Json ToJson(const TurnResult& r, const BenchOptions& options, const Model& model) {
  return {{"name", r.job.Name()},
          {"first_ms", r.first_ms.median},
          {"first_ms_sd", r.first_ms.sd},
          {"second_ms", r.second_ms.median},
          {"second_ms_sd", r.second_ms.sd},
          {"prompt", r.job.prompt},
          {"reply", r.job.reply},
          {"message", r.job.message},
          {"cached", r.cached},
          {"processed", r.processed},
          {"ratio", r.ratio.median},
          {"ratio_sd", r.ratio.sd},
          {"repetitions", options.measure.repetitions},
          {"threads", options.measure.num_threads},
          {"dtype", Name(model.dtype())},
          {"target", SimdTarget()},
          {"model", options.model.name()}};
}

}  // namespace

Result<Json> MeasureTurns(BenchOptions& options) {
  GDN_ASSIGN_OR_RETURN(const std::vector<TurnJob> jobs, TurnJobsOf(options));
  GDN_ASSIGN_OR_RETURN(const ModelConfig config, BenchConfig(options));
  const EngineConfig engine = TurnRunner::Config(jobs);
  GDN_ASSIGN_OR_RETURN(const RunLimits limits, Engine::Limits(config, engine));
  GDN_ASSIGN_OR_RETURN(LoadedModel loaded, LoadForBench(options, config, limits, nullptr));
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<TurnRunner> runner,
                       TurnRunner::Create(std::move(loaded.model), engine));
  ProgressLine progress("");
  Json rows = Json::array();
  for (const TurnJob& job : jobs) {
    const auto on_repetition = [&](int repetition) {
      progress.Show(StrCat(job.Name(), ": ", repetition, " of ", options.measure.repetitions));
    };
    const Result<TurnResult> result =
        runner->Measure(job, options.measure.repetitions, on_repetition);
    if (!result.ok()) progress.Finish();
    GDN_RETURN_IF_ERROR(result.status());
    rows.push_back(ToJson(*result, options, runner->model()));
  }
  progress.Finish();
  return rows;
}

}  // namespace gdn
