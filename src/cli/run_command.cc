// SPDX-License-Identifier: Apache-2.0
// gdn run: one prompt, its continuation on stdout.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
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
#include "cli/run_output.h"
#include "cli/sampling_options.h"
#include "session/session.h"
#include "session/stop_matcher.h"

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
  std::vector<std::string> logit_bias;
  bool ignore_eos = false;
  bool verbose = false;
  bool json = false;
};

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
  if ((options.params.num_top_logits > 0 || options.params.log_probs) && !options.json) {
    return InvalidArgument(StrCat(options.params.log_probs ? "--log-probs" : "--top-logits",
                                  " prints into the JSON object: it wants --json"));
  }
  options.session.model.prefill = PrefillModeOf(options.prefill);
  const std::optional<LogLevel> level = ParseLogLevel(options.log_level);
  SetLogLevel(level.value_or(LogLevel::kWarning));
  GDN_ASSIGN_OR_RETURN(options.session.model.device, ChooseDevice(options.device));
  GDN_ASSIGN_OR_RETURN(options.params.sampling.logit_bias, ParseLogitBias(options.logit_bias));
  GDN_RETURN_IF_ERROR(ValidateSamplingParams(options.params.sampling));
  GDN_RETURN_IF_ERROR(ValidateStopStrings(options.params.stop));
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
    PrintJson(*session, completion, Name(options.session.model.device.type));
  } else {
    std::printf("\n");
    std::fflush(stdout);
    PrintTable(*session, completion);
  }
  if (options.verbose) PrintKernels(*session);
  if (completion.finish == FinishReason::kCancelled) exit_code = kExitInterrupted;
  return OkStatus();
}

void AddEngineOptions(CLI::App& command, RunOptions& options) {
  AddNumberOption(command, "-n,--predict", options.params.max_new_tokens,
                  "Tokens to generate at most")
      ->capture_default_str();
  AddNumberOption(command, "-c,--ctx", options.session.engine.context_tokens,
                  "Context in tokens; 0: the model's, at most 4096")
      ->capture_default_str();
  AddNumberOption(command, "--min-tokens", options.params.min_new_tokens,
                  "No end-of-text token before so many tokens")
      ->capture_default_str();
  command
      .add_option("--stop", options.params.stop, "End before this text; may be given several times")
      ->allow_extra_args(false);
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
  AddSamplingOptions(*command, options->params.sampling, options->logit_bias);
  AddEngineOptions(*command, *options);
  command->add_flag("--verbose", options->verbose, "Say on stderr which kernel each op ran");
  command->add_option("--log-level", options->log_level, "error, warning, info or debug")
      ->check(CLI::IsMember({"error", "warning", "info", "debug"}))
      ->capture_default_str();
  AddNumberOption(*command, "--top-logits", options->params.num_top_logits,
                  "With --json: the N largest logits of each generated token, [id, logit] pairs");
  command->add_flag("--log-probs", options->params.log_probs,
                    "With --json: the natural log of each token's probability, before --temp and "
                    "all that follows it");
  command->add_flag("--json", options->json, "Print one JSON object instead of text");
  command->callback([command, options, &exit_code] {
    const Status status = Run(*command, *options, exit_code);
    if (!status.ok()) exit_code = Report(status);
  });
}

}  // namespace gdn
