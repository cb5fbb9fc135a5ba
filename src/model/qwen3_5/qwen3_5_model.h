// SPDX-License-Identifier: Apache-2.0
// Dense Qwen3.5 / Qwen3.6, text: h = embed; per layer mixer and MLP, each behind a Gemma norm with
// the residual add fused in front; final norm; head. Source: docs/numerics.md (section "Forward").
#pragma once

#include <memory>
#include <string>

#include "model/model.h"

namespace gdn::qwen3_5 {

Result<std::unique_ptr<Model>> Load(const std::string& dir, ModelConfig config,
                                    const ModelOptions& options, ThreadPool& pool,
                                    LoadProgress progress);

// Of random weights (random_weights.h).
Result<std::unique_ptr<Model>> MakeRandom(const ModelConfig& config, DType dtype, uint64_t seed,
                                          const ModelOptions& options, ThreadPool& pool,
                                          LoadProgress progress);
MemoryNeeds EstimateRandomNeeds(const ModelConfig& config, DType dtype, const RunLimits& limits,
                                const Device& device, int num_threads);

// What the checkpoint needs, from its headers alone.
Result<MemoryNeeds> EstimateNeeds(const std::string& dir, const ModelConfig& config,
                                  const RunLimits& limits, const Device& device, int num_threads);

}  // namespace gdn::qwen3_5
