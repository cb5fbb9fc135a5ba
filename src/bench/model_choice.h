// SPDX-License-Identifier: Apache-2.0
// Which model is measured: a checkpoint, or random weights in the shape of a config.json.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "base/thread_pool.h"
#include "model/config.h"
#include "model/model.h"

namespace gdn {

struct ModelChoice {
  std::string dir;             // a checkpoint folder, or
  std::string config_file;     // a config.json: random weights, no file is written
  DType dtype = DType::kBf16;  // of random weights
  uint64_t seed = 1;           // of random weights

  const std::string& name() const { return dir.empty() ? config_file : dir; }
};

// Errors: kInvalidArgument where both or none is chosen; those of the config.
Result<ModelConfig> ConfigOf(const ModelChoice& choice);

// Errors: kInvalidArgument for limits that the config does not allow, kOutOfMemory before anything
// is loaded where the memory is not there; those of LoadModel. The pool must outlive the model.
Result<std::unique_ptr<Model>> LoadChoice(const ModelChoice& choice, const ModelConfig& config,
                                          const RunLimits& limits, const ModelOptions& options,
                                          ThreadPool& pool, LoadProgress progress);

}  // namespace gdn
