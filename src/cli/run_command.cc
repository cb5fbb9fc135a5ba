// SPDX-License-Identifier: Apache-2.0
// gdn run: a prompt, what it is continued with on stdout; or a conversation.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "backend/devices.h"
#include "base/str.h"
#include "base/system_info.h"
#include "cli/chat_options.h"
#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/interrupt.h"
#include "cli/number_option.h"
#include "cli/report.h"
#include "cli/run_chat.h"
#include "cli/run_options.h"
#include "cli/run_output.h"
#include "cli/sampling_options.h"
#include "engine/memory_plan.h"
#include "session/session.h"
#include "session/stop_matcher.h"

namespace gdn {
namespace {

// What a prompt is continued with, to stdout.
Status Complete(const RunOptions& options, Session& session, int& exit_code) {
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<Stream> stream,
                       options.ids_file.empty()
                           ? session.Submit(options.prompt_text, options.params)
                           : session.SubmitTokens(options.ids, options.params));
  InstallInterruptHandler();
  const bool alone = options.params.num_completions == 1;
  const auto print = [&](const Chunk& chunk) {
    if (options.json || !alone) return;
    std::fwrite(chunk.text.data(), 1, chunk.text.size(), stdout);
    std::fflush(stdout);
  };
  GDN_ASSIGN_OR_RETURN(const std::vector<Completion> completions,
                       Collect(*stream, print, [] { return !Interrupted(); }));
  if (options.json) {
    PrintJson(session, stream->prompt_tokens(), completions,
              Name(options.session.model.device.type));
  } else {
    PrintTexts(completions);
    PrintTable(session, stream->prompt_tokens().size(), completions);
  }
  if (completions.front().finish == FinishReason::kCancelled) exit_code = kExitInterrupted;
  return OkStatus();
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

// As many completions at once as are asked for. A conversation keeps what it has computed.
void ChooseMemory(const CLI::App& command, RunOptions& options) {
  options.session.engine.max_seqs = options.params.num_completions;
  const bool shares = options.chat.enabled || options.params.num_completions > 1;
  options.session.engine.reuse_decoded = options.chat.reuse_decoded;
  options.session.engine.num_snapshots = shares ? kAutoSnapshots : 0;
  if (options.chat.enabled && command.count("--predict") == 0) {
    options.params.max_new_tokens = std::numeric_limits<int32_t>::max();  // what the context has
  }
}

Status Run(const CLI::App& command, RunOptions& options, int& exit_code) {
  options.params.stop_at_eos = !options.ignore_eos;
  if ((options.params.num_top_logits > 0 || options.params.log_probs) && !options.json) {
    return InvalidArgument(StrCat(options.params.log_probs ? "--log-probs" : "--top-logits",
                                  " prints into the JSON object: it wants --json"));
  }
  options.session.model.prefill = PrefillModeOf(options.prefill);
  options.session.model.vendor_gemm = options.gemm == "vendor";
  SetLogLevelOf(options.log_level);
  GDN_ASSIGN_OR_RETURN(options.session.model.device, ChooseDevice(options.device));
  GDN_ASSIGN_OR_RETURN(options.params.sampling.logit_bias, ParseLogitBias(options.logit_bias));
  GDN_RETURN_IF_ERROR(ValidateSamplingParams(options.params.sampling));
  GDN_RETURN_IF_ERROR(ValidateStopStrings(options.params.stop));
  ChatRequest conversation;
  if (options.chat.enabled) {
    GDN_ASSIGN_OR_RETURN(conversation, ReadConversation(command, options));
  } else {
    GDN_RETURN_IF_ERROR(ReadInput(command, options));
  }
  ChooseMemory(command, options);

  InstallMappedFileHandler();
  ProgressLine progress("loading");
  GDN_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                       Session::Load(options.session, [&](size_t done, size_t total) {
                         progress.Update(done, total);
                       }));
  progress.Finish();
  TakeDefaults(command, session->sampling_defaults(), options.params.sampling);
  GDN_RETURN_IF_ERROR(options.chat.enabled
                          ? RunChat(options, std::move(conversation), *session, exit_code)
                          : Complete(options, *session, exit_code));
  if (options.verbose) PrintKernels(*session);
  return OkStatus();
}

void AddEngineOptions(CLI::App& command, RunOptions& options) {
  AddNumberOption(command, "-n,--predict", options.params.max_new_tokens,
                  "Tokens to generate at most")
      ->capture_default_str();
  AddContextOption(command, options.session.engine.context_tokens);
  AddNumberOption(command, "--min-tokens", options.params.min_new_tokens,
                  "No end-of-text token before so many tokens")
      ->capture_default_str();
  command
      .add_option("--stop", options.params.stop, "End before this text; may be given several times")
      ->allow_extra_args(false);
  AddNumberOption(command, "--completions", options.params.num_completions,
                  "Answers to the prompt, each with a seed of its own")
      ->check(CLI::Range(int64_t{1}, kMaxCompletions))
      ->capture_default_str();
  AddMemoryOption(command, options.session.memory);
  AddThreadsOption(command, options.session.num_threads);
  command.add_flag("--ignore-eos", options.ignore_eos, "Go on after an end-of-text token");
  AddDeviceOption(command, options.device);
  AddPrefillOption(command, options.prefill);
  AddGemmOption(command, options.gemm);
}

}  // namespace

void AddRunCommand(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Continue a prompt, or reply to messages");
  const auto options = std::make_shared<RunOptions>();
  options->session.num_threads = NumCores();
  AddModelOption(*command, options->session.model_dir);
  AddPromptOptions(*command, options->prompt);
  command
      ->add_option("--ids", options->ids_file,
                   "File with the prompt as token ids in decimal, separated by white space")
      ->excludes("--prompt")
      ->excludes("--file");
  AddChatOptions(*command, options->chat);
  AddSamplingOptions(*command, options->params.sampling, options->logit_bias);
  AddEngineOptions(*command, *options);
  command->add_flag("--verbose", options->verbose, "Say on stderr which kernel each op ran");
  AddLogLevelOption(*command, options->log_level);
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
