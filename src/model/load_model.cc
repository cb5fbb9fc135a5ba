// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"
#include "model/qwen3_5/qwen3_5_model.h"

namespace gdn {

Result<std::unique_ptr<Model>> LoadModel(const std::string& dir, const ModelOptions& options,
                                         ThreadPool& pool, LoadProgress progress) {
  // Config parsing accepts dense Qwen3.5 alone; further families branch here on its architecture.
  GDN_ASSIGN_OR_RETURN(ModelConfig config, LoadModelConfig(dir));
  return qwen3_5::Load(dir, std::move(config), options, pool, progress);
}

Result<MemoryNeeds> EstimateNeeds(const std::string& dir, const ModelConfig& config,
                                  const RunLimits& limits, const Device& device, int num_threads) {
  return qwen3_5::EstimateNeeds(dir, config, limits, device, num_threads);
}

Result<std::unique_ptr<Model>> MakeRandomModel(const ModelConfig& config, DType dtype,
                                               uint64_t seed, const ModelOptions& options,
                                               ThreadPool& pool, LoadProgress progress) {
  return qwen3_5::MakeRandom(config, dtype, seed, options, pool, progress);
}

MemoryNeeds EstimateRandomNeeds(const ModelConfig& config, DType dtype, const RunLimits& limits,
                                const Device& device, int num_threads) {
  return qwen3_5::EstimateRandomNeeds(config, dtype, limits, device, num_threads);
}

}  // namespace gdn
