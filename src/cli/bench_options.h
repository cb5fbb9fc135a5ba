// SPDX-License-Identifier: Apache-2.0
// What the rows of gdn bench have in common: their options, and the model that they measure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "bench/model_choice.h"
#include "cli/bench_table.h"
#include "cli/common_options.h"
#include "model/model.h"

namespace gdn {

struct BenchOptions {
  ModelChoice model;
  std::vector<std::string> prompts = {"512"};
  std::vector<std::string> generations = {"128"};
  std::vector<std::string> depths = {"0"};
  std::vector<std::string> concurrencies = {"1"};
  MeasureOptions measure{.repetitions = 5};
  std::string dtype = "bf16";
  std::string prefill = "auto";
  std::string gemm = "own";
  std::string device = "auto";
  bool layers = false;
  bool turns = false;
  int64_t message = 32;
  bool only_with_config = false;    // an option of random weights was given
  bool only_without_turns = false;  // one that turns do not have was given
  bool only_with_turns = false;     // one that only turns have was given
  TableOptions table;
};

// The numbers of an option that takes a list, 0 for none. Errors: kInvalidArgument.
Result<std::vector<int64_t>> BenchCounts(const char* option, const std::vector<std::string>& words);

// The config of the chosen model, once its options agree. Sets the model's dtype.
Result<ModelConfig> BenchConfig(BenchOptions& options);

// The model for these limits, and the pool that it runs on.
struct LoadedModel {
  std::unique_ptr<ThreadPool> pool;  // outlives the model
  std::unique_ptr<Model> model;
};
Result<LoadedModel> LoadForBench(const BenchOptions& options, const ModelConfig& config,
                                 const RunLimits& limits, LayerTimes* times);

// The rows of --turns. Errors: those of the options, of the model and of the engine.
Result<nlohmann::ordered_json> MeasureTurns(BenchOptions& options);

}  // namespace gdn
