// SPDX-License-Identifier: Apache-2.0
#include "bench/model_choice.h"

#include "backend/devices.h"
#include "base/str.h"
#include "io/read_file.h"

namespace gdn {
namespace {

constexpr size_t kMaxConfigBytes = size_t{4} << 20;

Result<MemoryNeeds> NeedsOf(const ModelChoice& choice, const ModelConfig& config,
                            const RunLimits& limits, const Device& device, int num_threads) {
  if (choice.config_file.empty()) {
    return EstimateNeeds(choice.dir, config, limits, device, num_threads);
  }
  return EstimateRandomNeeds(config, choice.dtype, limits, device, num_threads);
}

Status CheckFits(const ModelChoice& choice, const ModelConfig& config, const RunLimits& limits,
                 const Device& device, int num_threads) {
  if (limits.max_positions > config.max_positions) {
    return InvalidArgument(StrCat("depth and tokens are ", limits.max_positions,
                                  " together, want at most the model's ", config.max_positions));
  }
  GDN_ASSIGN_OR_RETURN(const MemoryNeeds needs,
                       NeedsOf(choice, config, limits, device, num_threads));
  const size_t available = AvailableMemoryBytes(device);
  if (available == 0 || needs.TotalBytes(limits) <= available) return OkStatus();
  return OutOfMemory(StrCat(choice.name(), " needs ", HumanBytes(needs.TotalBytes(limits)),
                            " of memory, available are ", HumanBytes(available)));
}

}  // namespace

Result<ModelConfig> ConfigOf(const ModelChoice& choice) {
  if (choice.dir.empty() == choice.config_file.empty()) {
    return InvalidArgument("the model is given by -m DIR or by --config FILE, want one of them");
  }
  if (choice.config_file.empty()) return LoadModelConfig(choice.dir);
  GDN_ASSIGN_OR_RETURN(const std::string text, ReadFile(choice.config_file, kMaxConfigBytes));
  return ParseModelConfig(text, choice.config_file);
}

Result<std::unique_ptr<Model>> LoadChoice(const ModelChoice& choice, const ModelConfig& config,
                                          const RunLimits& limits, const ModelOptions& options,
                                          ThreadPool& pool, LoadProgress progress) {
  GDN_RETURN_IF_ERROR(CheckFits(choice, config, limits, options.device, pool.num_threads()));
  if (choice.config_file.empty()) return LoadModel(choice.dir, options, pool, progress);
  return MakeRandomModel(config, choice.dtype, choice.seed, options, pool, progress);
}

}  // namespace gdn
