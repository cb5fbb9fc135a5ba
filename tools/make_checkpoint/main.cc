// SPDX-License-Identifier: Apache-2.0
// gdn-make-checkpoint: a checkpoint of random weights in the shape that a config.json states.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "io/read_file.h"
#include "model/random_checkpoint.h"

namespace gdn {
namespace {

// Writes a line only when the percentage changes.
class Progress {
 public:
  void Show(uint64_t done, uint64_t total) {
    const int percent = static_cast<int>(100 * done / total);
    if (percent == percent_) return;
    percent_ = percent;
    std::fprintf(stderr, "\r%3d%% of %.2f GB%s", percent, static_cast<double>(total) * 1e-9,
                 done == total ? "\n" : "");
  }

 private:
  int percent_ = -1;
};

Status Make(const std::string& config_path, RandomCheckpointOptions options) {
  constexpr size_t kMaxConfigBytes = size_t{4} << 20;
  GDN_ASSIGN_OR_RETURN(options.config_json, ReadFile(config_path, kMaxConfigBytes));
  options.config_name = config_path;
  Progress progress;
  if (isatty(STDERR_FILENO) != 0) {
    options.progress = [&](uint64_t done, uint64_t total) { progress.Show(done, total); };
  }
  return WriteRandomCheckpoint(options);
}

// One line, and the exit code of bad input.
int Fail(const std::string& message) {
  Log(LogLevel::kError, message);
  return 2;
}

int Main(int argc, char** argv) {
  CLI::App app("Writes a checkpoint of random weights in the shape that a config.json states.");
  std::string config_path;
  RandomCheckpointOptions options;
  std::string dtype = "bf16";
  const std::map<std::string, DType> dtypes = {
      {"bf16", DType::kBf16}, {"f16", DType::kF16}, {"f32", DType::kF32}};
  app.add_option("--config", config_path, "config.json of the model")->required();
  app.add_option("--out", options.out_dir, "folder to write, made where absent")->required();
  app.add_option("--dtype", dtype, "element type of the weights")
      ->check(CLI::IsMember(std::vector<std::string>{"bf16", "f16", "f32"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the weights")->capture_default_str();
  app.add_option("--shards", options.num_shards, "number of weight files")->capture_default_str();
  app.add_flag("--a-log-f32", options.a_log_f32, "keep A_log and linear_attn.norm in f32");
  app.add_option("--tokenizer", options.tokenizer_dir,
                 "folder to copy tokenizer.json and its companions from");
  try {
    app.parse(argc, argv);
    options.dtype = dtypes.at(dtype);
    const Status status = Make(config_path, std::move(options));
    return status.ok() ? 0 : Fail(status.message());
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : Fail(error.what());
  } catch (const std::exception& error) {
    return Fail(error.what());
  }
}

}  // namespace
}  // namespace gdn

int main(int argc, char** argv) { return gdn::Main(argc, argv); }
