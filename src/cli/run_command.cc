// SPDX-License-Identifier: Apache-2.0
// gdn run: one prompt, its continuation on stdout.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "backend/devices.h"
#include "base/log.h"
#include "base/str.h"
#include "base/system_info.h"
#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/interrupt.h"
#include "cli/number_option.h"
#include "cli/report.h"
#include "session/session.h"

namespace gdn {
namespace {

struct RunOptions {
  SessionOptions session;
  GenerationParams params;
  PromptOptions prompt;
  std::string prompt_text;
  std::string ids_file;
  std::vector<int32_t> ids;
  std::string device = "auto";
  std::string prefill = "auto";
  std::string log_level = "warning";
  bool ignore_eos = false;
  bool verbose = false;
  bool json = false;
};

double PerSecond(size_t count, double milliseconds) {
  return milliseconds > 0 ? static_cast<double>(count) * 1000 / milliseconds : 0;
}

// One id an op: forms of one op have entries of their own.
std::map<std::string, std::string> KernelsByOp(const KernelLog& log) {
  std::map<std::string, std::string> out;
  for (const KernelLog::Entry& entry : log.entries()) {
    std::string& kernels = out[entry.op];
    kernels += (kernels.empty() ? "" : ",") + std::string(entry.kernel);
  }
  return out;
}

// [[[id, logit], ...], ...]; a logit that is no number is null.
nlohmann::ordered_json TopLogitsJson(const Completion& c) {
  auto rows = nlohmann::ordered_json::array();
  for (const std::vector<TokenLogit>& top : c.top_logits) {
    auto row = nlohmann::ordered_json::array();
    for (const TokenLogit& entry : top) row.push_back({entry.token, entry.logit});
    rows.push_back(std::move(row));
  }
  return rows;
}

nlohmann::ordered_json ToJson(const Session& session, const Completion& c, const char* device) {
  // The first generated token comes out of the prompt's own steps.
  const size_t gen_tokens = c.tokens.empty() ? 0 : c.tokens.size() - 1;
  nlohmann::ordered_json out = {{"prompt_tokens", c.prompt_tokens},
                                {"tokens", c.tokens},
                                {"text", c.text},
                                {"finish_reason", Name(c.finish)},
                                {"timings",
                                 {{"load_ms", session.load_ms()},
                                  {"prompt_ms", c.prompt_ms},
                                  {"prompt_tps", PerSecond(c.prompt_tokens.size(), c.prompt_ms)},
                                  {"gen_ms", c.gen_ms},
                                  {"gen_tps", PerSecond(gen_tokens, c.gen_ms)},
                                  {"peak_bytes", PeakMemoryBytes()}}},
                                {"device", device},
                                {"kernels", KernelsByOp(session.engine().model().kernels())}};
  if (!c.top_logits.empty()) out["top_logits"] = TopLogitsJson(c);
  return out;
}

void PrintRow(const char* name, size_t tokens, double milliseconds) {
  std::fprintf(stderr, "%-12s %8zu %10.3f %12.2f %10.3f\n", name, tokens, milliseconds / 1000,
               PerSecond(tokens, milliseconds),
               tokens == 0 ? 0 : milliseconds / static_cast<double>(tokens));
}

void PrintTable(const Session& session, const Completion& c) {
  std::fprintf(stderr, "\n%-12s %8s %10s %12s %10s\n", "", "tokens", "seconds", "tokens/s",
               "ms/token");
  PrintRow("prompt", c.prompt_tokens.size(), c.prompt_ms);
  PrintRow("generation", c.tokens.empty() ? 0 : c.tokens.size() - 1, c.gen_ms);
  std::fprintf(stderr, "load %.0f ms, peak memory %s\n", session.load_ms(),
               HumanBytes(PeakMemoryBytes()).c_str());
}

void PrintKernels(const Session& session) {
  for (const auto& [op, kernel] : KernelsByOp(session.engine().model().kernels())) {
    std::fprintf(stderr, "%-26s %s\n", op.c_str(), kernel.c_str());
  }
}

Result<Completion> Complete(const RunOptions& options, Session& session) {
  const auto print = [&](std::string_view piece) {
    if (options.json) return;
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    std::fflush(stdout);
  };
  const auto keep_going = [] { return !Interrupted(); };
  if (!options.ids_file.empty()) {
    return session.CompleteTokens(options.ids, options.params, print, keep_going);
  }
  return session.Complete(options.prompt_text, options.params, print, keep_going);
}

// Before the model is loaded: a bad prompt costs no time.
Status ReadInput(const CLI::App& command, RunOptions& options) {
  if (command.count("--ids") > 0) {
    GDN_ASSIGN_OR_RETURN(options.ids, ReadTokenIds(options.ids_file));
  } else {
    GDN_ASSIGN_OR_RETURN(options.prompt_text, ReadPrompt(command, options.prompt));
  }
  if (options.ids.empty() && options.prompt_text.empty()) {
    return InvalidArgument("prompt is empty, want at least one token");
  }
  return OkStatus();
}

Status Run(const CLI::App& command, RunOptions& options, int& exit_code) {
  options.params.stop_at_eos = !options.ignore_eos;
  if (options.params.num_top_logits > 0 && !options.json) {
    return InvalidArgument("--top-logits prints into the JSON object: it wants --json");
  }
  options.session.model.prefill = PrefillModeOf(options.prefill);
  const std::optional<LogLevel> level = ParseLogLevel(options.log_level);
  SetLogLevel(level.value_or(LogLevel::kWarning));
  GDN_ASSIGN_OR_RETURN(options.session.model.device, ChooseDevice(options.device));
  GDN_RETURN_IF_ERROR(ValidateSamplingParams(options.params.sampling));
  GDN_RETURN_IF_ERROR(ReadInput(command, options));

  InstallMappedFileHandler();
  ProgressLine progress("loading");
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                       Session::Load(options.session, [&](size_t done, size_t total) {
                         progress.Update(done, total);
                       }));
  progress.Finish();
  // Only now: an interrupted load has nothing to end in order.
  InstallInterruptHandler();
  GDN_ASSIGN_OR_RETURN(const Completion completion, Complete(options, *session));
  if (options.json) {
    const char* device = Name(options.session.model.device.type);
    std::printf("%s\n", ToJson(*session, completion, device).dump().c_str());
  } else {
    std::printf("\n");
    std::fflush(stdout);
    PrintTable(*session, completion);
  }
  if (options.verbose) PrintKernels(*session);
  if (completion.finish == FinishReason::kCancelled) exit_code = kExitInterrupted;
  return OkStatus();
}

void AddSamplingOptions(CLI::App& command, SamplingParams& sampling) {
  AddNumberOption(command, "--temp", sampling.temperature,
                  "Temperature; 0 takes the likeliest token")
      ->capture_default_str();
  AddNumberOption(command, "--top-k", sampling.top_k, "Sample from the K likeliest tokens; 0: all")
      ->capture_default_str();
  AddNumberOption(command, "--top-p", sampling.top_p,
                  "Sample from the likeliest tokens of this probability")
      ->capture_default_str();
  AddNumberOption(command, "--min-p", sampling.min_p,
                  "Drop tokens below this share of the likeliest one")
      ->capture_default_str();
  AddNumberOption(command, "--seed", sampling.seed, "The same seed gives the same text")
      ->capture_default_str();
}

void AddEngineOptions(CLI::App& command, RunOptions& options) {
  AddNumberOption(command, "-n,--predict", options.params.max_new_tokens,
                  "Tokens to generate at most")
      ->capture_default_str();
  AddNumberOption(command, "-c,--ctx", options.session.engine.context_tokens,
                  "Context in tokens; 0: the model's, at most 4096")
      ->capture_default_str();
  AddThreadsOption(command, options.session.num_threads);
  command.add_flag("--ignore-eos", options.ignore_eos, "Go on after an end-of-text token");
  AddDeviceOption(command, options.device);
  AddPrefillOption(command, options.prefill);
}

}  // namespace

void AddRunCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Continue a prompt");
  const auto options = std::make_shared<RunOptions>();
  options->session.num_threads = NumCores();
  options->params.sampling = {.temperature = 0.8F, .top_k = 40, .top_p = 0.95F};
  command->add_option("-m,--model", options->session.model_dir, "Checkpoint folder")->required();
  AddPromptOptions(*command, options->prompt);
  command
      ->add_option("--ids", options->ids_file,
                   "File with the prompt as token ids in decimal, separated by white space")
      ->excludes("--prompt")
      ->excludes("--file");
  AddSamplingOptions(*command, options->params.sampling);
  AddEngineOptions(*command, *options);
  command->add_flag("--verbose", options->verbose, "Say on stderr which kernel each op ran");
  command->add_option("--log-level", options->log_level, "error, warning, info or debug")
      ->check(CLI::IsMember({"error", "warning", "info", "debug"}))
      ->capture_default_str();
  AddNumberOption(*command, "--top-logits", options->params.num_top_logits,
                  "With --json: the N largest logits of each generated token, [id, logit] pairs");
  command->add_flag("--json", options->json, "Print one JSON object instead of text");
  command->callback([command, options, &exit_code] {
    const Status status = Run(*command, *options, exit_code);
    if (!status.ok()) exit_code = Report(status);
  });
}

}  // namespace gdn
