// SPDX-License-Identifier: Apache-2.0
// gdn bench: tokens a second of a whole model, against the machine's limits.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "backend/devices.h"
#include "base/str.h"
#include "bench/model_runner.h"
#include "cli/bench_options.h"
#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/number_option.h"
#include "cli/report.h"
#include "ops/common/simd_target.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMaxSequences = 1024;

Result<std::vector<ModelJob>> JobsOf(const BenchOptions& options) {
  GDN_ASSIGN_OR_RETURN(const std::vector<int64_t> prompts, BenchCounts("-p", options.prompts));
  GDN_ASSIGN_OR_RETURN(const std::vector<int64_t> generations,
                       BenchCounts("-n", options.generations));
  GDN_ASSIGN_OR_RETURN(const std::vector<int64_t> depths, BenchCounts("-d", options.depths));
  GDN_ASSIGN_OR_RETURN(const std::vector<int64_t> concurrencies,
                       BenchCounts("--concurrency", options.concurrencies));
  std::vector<ModelJob> jobs;
  for (const int64_t sequences : concurrencies) {
    if (sequences < 1 || sequences > kMaxSequences) {
      return InvalidArgument(StrCat("--concurrency is ", sequences, ", want 1 to ", kMaxSequences));
    }
    for (const int64_t depth : depths) {
      for (const int64_t tokens : prompts) {
        if (tokens > 0) jobs.push_back({true, tokens, depth, sequences});
      }
      for (const int64_t tokens : generations) {
        if (tokens > 0) jobs.push_back({false, tokens, depth, sequences});
      }
    }
  }
  if (jobs.empty()) return InvalidArgument("-p and -n are 0, want one of them above");
  return jobs;
}

Json ToJson(const ModelResult& r, const BenchOptions& options, const ModelRunner& runner,
            int num_threads) {
  Json row = {{"name", r.job.Name()},
              {"mean", r.tokens_per_second.mean},
              {"sd", r.tokens_per_second.sd},
              {"median", r.tokens_per_second.median},
              {"pct_peak", r.pct_peak},
              {"pct_bw", r.pct_bw},
              {"peak_gflops", r.machine.peak_gflops},
              {"read_gbytes", r.machine.read_gbytes}};
  if (r.on_device) {
    const auto per_step = [&r](int64_t count) {
      return static_cast<double>(count) / static_cast<double>(r.steps);
    };
    row["pct_peak"] = row["peak_gflops"] = nullptr;
    row["dispatches_step"] = per_step(r.work.dispatches);
    row["submits_step"] = per_step(r.work.submits);
    row["bytes_to_device_step"] = per_step(r.work.bytes_to_device);
    row["bytes_to_host_step"] = per_step(r.work.bytes_to_host);
  }
  if (options.layers) {
    row["linear_attention_s"] = r.layers.linear_attention;
    row["full_attention_s"] = r.layers.full_attention;
    row["mlp_s"] = r.layers.mlp;
    row["head_s"] = r.layers.head;
  }
  row["tokens"] = r.job.tokens;
  row["depth"] = r.job.depth;
  row["concurrency"] = r.job.sequences;
  row["repetitions"] = options.measure.repetitions;
  row["threads"] = num_threads;
  row["dtype"] = Name(runner.model().dtype());
  row["prefill"] = runner.prefills_in_chunks() ? "chunk" : "recurrent";
  row["target"] = SimdTarget();
  row["model"] = options.model.name();
  return row;
}

Result<Json> MeasureAll(const BenchOptions& options, const std::vector<ModelJob>& jobs,
                        ModelRunner& runner, ThreadPool& pool) {
  GDN_ASSIGN_OR_RETURN(MachineProbe probe,
                       MachineProbe::Create(pool, options.measure.buffer_bytes()));
  ProgressLine progress("");
  Json rows = Json::array();
  for (const ModelJob& job : jobs) {
    const auto on_repetition = [&](int repetition) {
      progress.Show(StrCat(job.Name(), ": ", repetition, " of ", options.measure.repetitions));
    };
    const Result<ModelResult> result =
        runner.Measure(job, options.measure.repetitions, probe, on_repetition);
    if (!result.ok()) progress.Finish();
    GDN_RETURN_IF_ERROR(result.status());
    rows.push_back(ToJson(*result, options, runner, pool.num_threads()));
  }
  progress.Finish();
  return rows;
}

Result<Json> LoadAndMeasure(BenchOptions& options) {
  if (options.only_with_turns) return InvalidArgument("--message is of a turn: it wants --turns");
  GDN_ASSIGN_OR_RETURN(const std::vector<ModelJob> jobs, JobsOf(options));
  GDN_ASSIGN_OR_RETURN(const ModelConfig config, BenchConfig(options));
  GDN_ASSIGN_OR_RETURN(const Device device, ChooseDevice(options.device));
  if (options.layers && device.type != DeviceType::kCpu) {
    return InvalidArgument(
        "--layers is of the CPU: a device runs the layers of a step as one piece");
  }
  const RunLimits limits = ModelRunner::Limits(jobs);
  LayerTimes layer_times;
  LayerTimes* times = options.layers ? &layer_times : nullptr;
  GDN_ASSIGN_OR_RETURN(LoadedModel loaded, LoadForBench(options, config, limits, times));
  GDN_ASSIGN_OR_RETURN(
      const std::unique_ptr<ModelRunner> runner,
      ModelRunner::Create(std::move(loaded.model), limits, PrefillModeOf(options.prefill), times));
  return MeasureAll(options, jobs, *runner, *loaded.pool);
}

Status Run(BenchOptions& options) {
  GDN_ASSIGN_OR_RETURN(const Json rows,
                       options.turns ? MeasureTurns(options) : LoadAndMeasure(options));
  std::vector<std::string> keys = {"name",     "median", "mean",        "sd",
                                   "pct_peak", "pct_bw", "peak_gflops", "read_gbytes"};
  if (options.turns) {
    keys = {"name", "first_ms", "second_ms", "cached", "processed", "ratio", "ratio_sd"};
  }
  if (!options.turns && !rows.empty() && rows[0].contains("dispatches_step")) {
    keys = {"name",
            "median",
            "mean",
            "sd",
            "pct_bw",
            "read_gbytes",
            "dispatches_step",
            "submits_step",
            "bytes_to_device_step",
            "bytes_to_host_step"};
  }
  if (options.layers) {
    keys.insert(keys.end(), {"linear_attention_s", "full_attention_s", "mlp_s", "head_s"});
  }
  const std::string text = FormatTable(rows, keys, options.table);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return OkStatus();
}

constexpr const char* kFooter =
    "A row is a prompt (pp512) or a generation (tg128), in tokens a second; @d1024: behind 1024 "
    "tokens\n"
    "that are not timed; @c16: of 16 sequences, prompts one after another, a token of each in a "
    "step.\n"
    "The steps are those of the engine, with its slices of\n"
    "512 tokens and its greedy choice of each token, without its queue; one run before is not "
    "counted.\n"
    "pct_peak: 2 x weights of the layers a token, 2 x those of the head a row of logits, the "
    "delta\n"
    "rule's needed operations (9.0 MFLOP a chunk and value head at size 128, or its recurrence's 7 "
    "a\n"
    "state element), attention's; as a share of the f32 FMA peak.\n"
    "pct_bw: the weights, the states read and written, the keys and values read, once a step; as "
    "a\n"
    "share of the memory's read speed. Peak and read speed are measured on the same threads "
    "before\n"
    "and after each repetition.\n"
    "On a device other than the CPU read_gbytes is what its own copies read and write, and a "
    "step's\n"
    "work is counted: dispatches, submits and the bytes that cross to and from it.\n"
    "--turns: a prompt of -p tokens, its greedy reply of -n, then the prompt of the next turn: "
    "both "
    "and\n"
    "--message tokens, through the engine with its prefix cache. first_ms and second_ms: to the "
    "first\n"
    "token of each turn; processed: tokens of the second prompt that were not cached; ratio: the "
    "time\n"
    "of one of them in that of a token of the first prompt.";

void AddModelOptions(CLI::App& command, BenchOptions& options) {
  command.add_option("-m,--model", options.model.dir, "Checkpoint folder");
  command.add_option("--config", options.model.config_file,
                     "config.json of a model: random weights, in memory alone");
  AddDTypeOption(command, options.dtype, "With --config: bf16, f16 or f32");
  AddNumberOption(command, "--seed", options.model.seed, "With --config: of the weights")
      ->capture_default_str();
  AddDeviceOption(command, options.device);
  AddPrefillOption(command, options.prefill);
  AddGemmOption(command, options.gemm);
}

}  // namespace

void AddBenchCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("bench", "Measure how fast a model runs");
  command->footer(kFooter);
  const auto options = std::make_shared<BenchOptions>();
  AddModelOptions(*command, *options);
  command->add_option("-p,--prompt", options->prompts, "Tokens of a prompt, a list; 0: none")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("-n,--predict", options->generations, "Tokens to generate, a list; 0: none")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("-d,--depth", options->depths, "Tokens in the context before, a list")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--concurrency", options->concurrencies, "Sequences at once, a list")
      ->delimiter(',')
      ->capture_default_str();
  AddMeasureOptions(*command, options->measure);
  command->add_flag("--layers", options->layers,
                    "Also the seconds that each kind of layer took, a repetition");
  command->add_flag("--turns", options->turns, "Measure the second turn of a conversation");
  AddNumberOption(*command, "--message", options->message,
                  "With --turns: tokens of the second message")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  AddTableOptions(*command, options->table);
  command->callback([command, options, &exit_code] {
    options->only_with_config = command->count("--dtype") + command->count("--seed") > 0;
    options->only_with_turns = command->count("--message") > 0;
    options->only_without_turns =
        command->count("-d") + command->count("--concurrency") + command->count("--layers") > 0;
    const Status status = Run(*options);
    if (!status.ok()) exit_code = Report(status);
  });
}

}  // namespace gdn
