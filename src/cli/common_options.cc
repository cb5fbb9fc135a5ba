// SPDX-License-Identifier: Apache-2.0
#include "cli/common_options.h"

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "base/system_info.h"
#include "cli/number_option.h"

namespace gdn {

void AddThreadsOption(CLI::App& command, int& num_threads) {
  AddNumberOption(command, "-t,--threads", num_threads, "Threads (default: all cores)")
      ->check(CLI::Range(1, 1024));
}

void AddModelOption(CLI::App& command, std::string& dir) {
  command.add_option("-m,--model", dir, "Checkpoint folder")->required();
}

void AddContextOption(CLI::App& command, int64_t& tokens) {
  AddNumberOption(command, "-c,--ctx", tokens, "Context in tokens; 0: the model's, at most 4096")
      ->capture_default_str();
}

void AddMemoryOption(CLI::App& command, std::string& limit) {
  command.add_option(
      "--memory", limit,
      "Memory for weights, contexts and cached prompts together: \"8GiB\", \"80%\" of "
      "what is available (default: all of it, where it is needed)");
}

void AddLogLevelOption(CLI::App& command, std::string& word) {
  command.add_option("--log-level", word, "error, warning, info or debug")
      ->check(CLI::IsMember({"error", "warning", "info", "debug"}))
      ->capture_default_str();
}

void AddDeviceOption(CLI::App& command, std::string& word) {
  command.add_option("--device", word, "auto or a device of `gdn devices`: cpu, vulkan, vulkan:1")
      ->capture_default_str();
}

void AddPrefillOption(CLI::App& command, std::string& word) {
  command.add_option("--prefill", word, "Form of the rule for the prompt")
      ->check(CLI::IsMember({"auto", "chunk", "recurrent"}))
      ->capture_default_str();
}

void AddGemmOption(CLI::App& command, std::string& word) {
  command
      .add_option("--gemm", word,
                  "Matrix products of a CUDA device: own, whose bits no batch changes, or vendor, "
                  "by cuBLASLt, whose bits depend on what runs beside a request")
      ->check(CLI::IsMember({"own", "vendor"}))
      ->capture_default_str();
}

void AddDTypeOption(CLI::App& command, std::string& word, const std::string& help) {
  command.add_option("--dtype", word, help)
      ->check(CLI::IsMember({"bf16", "f16", "f32"}))
      ->capture_default_str();
}

void AddMeasureOptions(CLI::App& command, MeasureOptions& options) {
  options.num_threads = NumCores();
  AddNumberOption(command, "-r,--repetitions", options.repetitions, "Measured repetitions")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  AddThreadsOption(command, options.num_threads);
  AddNumberOption(command, "--buffer-mib", options.buffer_mib,
                  "Memory that the probe of the read speed goes through; 0: 8 times the last-level "
                  "cache, 256 or more")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
}

void SetLogLevelOf(const std::string& word) {
  SetLogLevel(ParseLogLevel(word).value_or(LogLevel::kWarning));
}

PrefillMode PrefillModeOf(const std::string& word) {
  if (word == "chunk") return PrefillMode::kChunk;
  return word == "recurrent" ? PrefillMode::kRecurrent : PrefillMode::kAuto;
}

DType DTypeOfWord(const std::string& word) {
  if (word == "f32") return DType::kF32;
  return word == "f16" ? DType::kF16 : DType::kBf16;
}

}  // namespace gdn
