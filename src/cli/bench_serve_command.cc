// SPDX-License-Identifier: Apache-2.0
// gdn bench-serve: latencies and throughput of a running server.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/str.h"
#include "bench_serve/load_report.h"
#include "bench_serve/load_run.h"
#include "bench_serve/workload.h"
#include "cli/bench_table.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/number_option.h"
#include "cli/report.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMaxConcurrency = 16384;
constexpr int64_t kMaxRequests = 1 << 20;

struct BenchServeOptions {
  std::string url = "http://127.0.0.1:8000";
  std::string model;
  std::string endpoint = "completions";
  std::string prompt_tokens = "128";
  std::string output_tokens = "128";
  int64_t timeout_s = 600;
  bool json = false;
  LoadOptions load;
  WorkloadOptions workload;
};

Status Resolve(BenchServeOptions& options) {
  GDN_ASSIGN_OR_RETURN(options.load.url, ParseHttpUrl(options.url));
  GDN_ASSIGN_OR_RETURN(options.workload.prompt_tokens,
                       ParseCountRange("--prompt-tokens", options.prompt_tokens));
  GDN_ASSIGN_OR_RETURN(options.workload.output_tokens,
                       ParseCountRange("--output-tokens", options.output_tokens));
  if (!std::ranges::all_of(options.load.api_key, [](char c) { return c > ' ' && c < 0x7F; })) {
    return InvalidArgument("--api-key has characters that a header cannot carry");
  }
  if (options.load.concurrency == 0 && !(options.load.request_rate > 0)) {
    return InvalidArgument(
        StrCat("--request-rate is ", options.load.request_rate, ", want above 0"));
  }
  options.load.is_chat = options.workload.is_chat = options.endpoint == "chat";
  options.load.seed = options.workload.seed;
  options.load.timeout = std::chrono::seconds(options.timeout_s);
  return OkStatus();
}

std::string ProgressText(const BenchProgress& progress) {
  constexpr int64_t kWidth = 30;
  const int64_t filled = progress.done * kWidth / std::max<int64_t>(progress.total, 1);
  std::string text = StrCat("[", std::string(static_cast<size_t>(filled), '#'),
                            std::string(static_cast<size_t>(kWidth - filled), ' '), "] ",
                            progress.done, " of ", progress.total, ", running ", progress.running);
  if (progress.failed > 0) text += StrCat(", failed ", progress.failed);
  return text;
}

Result<LoadResult> RunWithProgress(const LoadOptions& load, const std::vector<std::string>& bodies,
                                   const char* label) {
  ProgressLine line(label);
  const LoadHooks hooks{
      .on_progress = [&line](const BenchProgress& p) { line.Show(ProgressText(p)); },
      .stop = Interrupted};
  Result<LoadResult> result = RunLoad(load, bodies, hooks);
  line.Finish();
  return result;
}

Status WarmUp(const LoadOptions& load, const std::vector<std::string>& bodies) {
  if (bodies.empty()) return OkStatus();
  GDN_ASSIGN_OR_RETURN(const LoadResult result, RunWithProgress(load, bodies, "warm-up "));
  for (const Answer& answer : result.answers) {
    if (!answer.error.empty())
      return Unavailable(StrCat("a warm-up request failed: ", answer.error));
  }
  return OkStatus();
}

Json SettingsOf(const BenchServeOptions& options) {
  Json settings = {{"url", options.load.url.Text()},
                   {"model", options.model},
                   {"endpoint", options.endpoint},
                   {"num_requests", options.workload.num_requests},
                   {"seed", options.workload.seed}};
  if (options.load.concurrency > 0) {
    settings["concurrency"] = options.load.concurrency;
  } else {
    settings["request_rate"] = options.load.request_rate;
  }
  if (options.workload.prompts_file.empty()) {
    settings["prompt_tokens_wanted"] = options.prompt_tokens;
    settings["output_tokens_wanted"] = options.output_tokens;
  } else {
    settings["prompts"] = options.workload.prompts_file;
  }
  return settings;
}

std::string Latencies(const Json& report) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kRows = {
      {{"ttft_ms", "time to first token"},
       {"tpot_ms", "time per output token"},
       {"itl_ms", "inter-token latency"},
       {"e2e_ms", "end to end"}}};
  std::string text = "\n| ms | mean | p50 | p90 | p99 |\n|---|---|---|---|---|\n";
  for (const auto& [key, name] : kRows) {
    text += StrCat("| ", name, " |");
    for (const char* column : {"mean", "p50", "p90", "p99"}) {
      const Json& times = report[key];
      text += StrCat(" ", times.is_null() ? "-" : RoundedNumber(times[column].get<double>()), " |");
    }
    text += '\n';
  }
  return text;
}

void PrintTable(const Json& report) {
  const auto number = [&report](const char* key) {
    return RoundedNumber(report[key].get<double>());
  };
  const auto count = [&report](const char* key) { return report[key].get<int64_t>(); };
  std::string text =
      StrCat("requests: ", count("completed"), " completed, ", count("failed"), " failed, in ",
             number("duration_s"), " s, at most ", count("most_running"), " at once\n");
  if (count("completed") > 0) {
    text += StrCat("tokens: ", count("prompt_tokens"), " of prompts (", count("cached_tokens"),
                   " cached), ", count("output_tokens"), " of output, counted by ",
                   report["tokens_counted_by"].get<std::string>(),
                   "\nthroughput: ", number("requests_per_second"), " requests/s, ",
                   number("output_tokens_per_second"), " output tokens/s, ",
                   number("total_tokens_per_second"), " tokens/s\n", Latencies(report));
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void ShowErrors(const Json& report) {
  constexpr size_t kMaxShown = 5;
  const Json& errors = report["errors"];
  for (size_t i = 0; i < std::min(errors.size(), kMaxShown); ++i) {
    std::fprintf(stderr, "gdn: %lld failed: %s\n",
                 static_cast<long long>(errors[i]["count"].get<int64_t>()),
                 errors[i]["message"].get_ref<const std::string&>().c_str());
  }
  if (errors.size() > kMaxShown) {
    std::fprintf(stderr, "gdn: %zu more kinds of error (--json has all)\n",
                 errors.size() - kMaxShown);
  }
}

// The report, or why there is none.
Result<Json> Measure(BenchServeOptions& options) {
  GDN_RETURN_IF_ERROR(Resolve(options));
  if (options.model.empty()) {
    GDN_ASSIGN_OR_RETURN(options.model, FirstModel(options.load));
  }
  GDN_ASSIGN_OR_RETURN(std::vector<std::string> bodies,
                       MakeWorkload(options.workload, options.model));
  const auto first = bodies.begin() + static_cast<std::ptrdiff_t>(options.workload.num_warmups);
  const std::vector<std::string> warm_ups(bodies.begin(), first);
  bodies.erase(bodies.begin(), first);
  GDN_RETURN_IF_ERROR(WarmUp(options.load, warm_ups));
  GDN_ASSIGN_OR_RETURN(const LoadResult result, RunWithProgress(options.load, bodies, ""));
  Json report = SettingsOf(options);
  report.update(ReportOf(result));
  return report;
}

int Run(BenchServeOptions& options) {
  InstallInterruptHandler();
  const Result<Json> report = Measure(options);
  if (!report.ok()) {
    const int code = Report(report.status());
    switch (report.status().code()) {
      case StatusCode::kCancelled:
        return kExitInterrupted;
      case StatusCode::kUnavailable:
        return kExitFailure;
      default:
        return code;
    }
  }
  if (options.json) {
    std::printf("%s\n", report->dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    PrintTable(*report);
  }
  ShowErrors(*report);
  return (*report)["failed"].get<int64_t>() == 0 ? kExitOk : kExitFailure;
}

constexpr const char* kFooter =
    "Works with any server that has OpenAI's /v1/completions or /v1/chat/completions. Random "
    "prompts "
    "of\n"
    "completions are token ids with ignore_eos, those of chats as many random words. A line of "
    "--prompts\n"
    "is {\"prompt\": TEXT or IDS} or {\"messages\": [..]}; its other fields are sent as they are.\n"
    "The first token's time counts from the request, connection included; that per output token is "
    "the\n"
    "rest of the answer over its other tokens; inter-token latency lies between chunks with "
    "tokens.\n"
    "Exit code 1: a request failed, or there is no server.";

void AddLoadOptions(CLI::App& command, BenchServeOptions& options) {
  command.add_option("--url", options.url, "Of the server")->capture_default_str();
  command.add_option("--model", options.model, "Default: the first of /v1/models");
  command.add_option("--api-key", options.load.api_key, "Sent as a bearer token");
  command.add_option("--endpoint", options.endpoint, "completions or chat")
      ->check(CLI::IsMember({"completions", "chat"}))
      ->capture_default_str();
  CLI::Option* concurrency =
      AddNumberOption(command, "--concurrency", options.load.concurrency, "Requests at once")
          ->check(CLI::Range(int64_t{1}, kMaxConcurrency))
          ->capture_default_str();
  AddNumberOption(command, "--request-rate", options.load.request_rate,
                  "Requests a second, arriving at random (Poisson)")
      ->excludes(concurrency);
  AddNumberOption(command, "--timeout", options.timeout_s,
                  "Seconds that an answer may go on without a byte")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
}

void AddWorkloadOptions(CLI::App& command, WorkloadOptions& workload, BenchServeOptions& options) {
  AddNumberOption(command, "--num-requests", workload.num_requests, "How many are measured")
      ->check(CLI::Range(int64_t{1}, kMaxRequests))
      ->capture_default_str();
  AddNumberOption(command, "--warmup", workload.num_warmups, "Requests before, not counted")
      ->check(CLI::Range(int64_t{0}, kMaxRequests))
      ->capture_default_str();
  CLI::Option* tokens = command.add_option("--prompt-tokens", options.prompt_tokens,
                                           "Of a random prompt: N or LOW:HIGH");
  tokens->capture_default_str();
  command
      .add_option("--output-tokens", options.output_tokens,
                  "Of an answer: N or LOW:HIGH; with --prompts at most N")
      ->capture_default_str();
  AddNumberOption(command, "--vocab", workload.vocab, "Random ids are below it")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 31))
      ->capture_default_str();
  AddNumberOption(command, "--seed", workload.seed, "Of prompts, lengths and arrivals")
      ->capture_default_str();
  AddNumberOption(command, "--temp", workload.temperature, "Temperature of the requests")
      ->capture_default_str();
  command.add_option("--prompts", workload.prompts_file, "File of prompts, a line of JSON each")
      ->excludes(tokens);
}

}  // namespace

void AddBenchServeCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("bench-serve", "Measure a running server");
  command->footer(kFooter);
  const auto options = std::make_shared<BenchServeOptions>();
  AddLoadOptions(*command, *options);
  AddWorkloadOptions(*command, options->workload, *options);
  command->add_flag("--json", options->json, "Print the report as JSON");
  command->callback([command, options, &exit_code] {
    if (command->count("--request-rate") > 0) options->load.concurrency = 0;
    exit_code = Run(*options);
  });
}

}  // namespace gdn
