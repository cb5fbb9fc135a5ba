// SPDX-License-Identifier: Apache-2.0
// gdn inspect: what a checkpoint is and what it needs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/str.h"
#include "base/system_info.h"
#include "cli/commands.h"
#include "cli/number_option.h"
#include "cli/report.h"
#include "engine/engine.h"
#include "engine/memory_plan.h"
#include "io/safetensors.h"
#include "model/model.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

struct InspectOptions {
  std::string model_dir;
  EngineConfig engine{.num_snapshots = kAutoSnapshots};
  std::string memory;  // "": no limit
  int num_threads = 1;
  bool json = false;
};

Json ConfigJson(const ModelConfig& c) {
  return {{"architecture", c.architecture},
          {"vocab_size", c.vocab_size},
          {"hidden_size", c.hidden_size},
          {"intermediate_size", c.intermediate_size},
          {"layers", c.num_layers},
          {"linear_attention_layers", c.CountLayers(LayerKind::kLinearAttention)},
          {"full_attention_layers", c.CountLayers(LayerKind::kFullAttention)},
          {"query_heads", c.num_heads},
          {"kv_heads", c.num_kv_heads},
          {"head_dim", c.head_dim},
          {"rotary_dim", c.rotary_dim},
          {"rope_theta", c.rope_theta},
          {"linear_key_heads", c.linear_num_key_heads},
          {"linear_value_heads", c.linear_num_value_heads},
          {"linear_key_head_dim", c.linear_key_head_dim},
          {"linear_value_head_dim", c.linear_value_head_dim},
          {"conv_kernel", c.conv_kernel},
          {"max_positions", c.max_positions},
          {"tie_word_embeddings", c.tie_word_embeddings},
          {"eos_token_ids", c.eos_token_ids}};
}

// Snapshots and blocks of a cached prefix, in bytes a 1,000 tokens of it.
size_t PerThousand(size_t bytes, int64_t tokens) {
  return 1000 * bytes / static_cast<size_t>(tokens);
}

Json MemoryJson(const MemoryPlan& plan) {
  const MemoryNeeds& needs = plan.needs;
  return {{"context_tokens", plan.limits.max_positions},
          {"max_seqs", plan.config.max_seqs},
          {"weight_bytes", needs.weight_bytes},
          {"scratch_bytes", needs.scratch_bytes},
          {"state_bytes_per_sequence", needs.state_bytes},
          {"snapshot_interval_tokens", plan.config.snapshot_interval},
          {"snapshot_bytes_per_1000_tokens",
           PerThousand(needs.state_bytes, plan.config.snapshot_interval)},
          {"kv_bytes_per_64_tokens", needs.kv_block_bytes},
          {"kv_bytes_per_1000_tokens", PerThousand(needs.kv_block_bytes, kKvBlockSize)},
          {"kv_tokens", plan.config.kv_tokens},
          {"snapshots", plan.config.num_snapshots},
          // These two with the null row of each pool; with weights and scratch they are the total.
          {"all_states_bytes", needs.state_bytes * static_cast<size_t>(plan.limits.num_slots)},
          {"all_kv_bytes", needs.kv_block_bytes * static_cast<size_t>(plan.limits.num_blocks)},
          {"total_bytes", plan.total_bytes}};
}

Json TensorsJson(const SafetensorsCheckpoint& checkpoint) {
  Json rows = Json::array();
  for (const SafetensorsInfo& info : checkpoint.tensors()) {
    rows.push_back({{"name", info.name},
                    {"dtype", info.dtype},
                    {"shape", info.shape},
                    {"bytes", info.size_bytes},
                    {"file", info.file}});
  }
  return rows;
}

std::string Dump(const Json& json) {
  // Names come from files: what is not UTF-8 is replaced, never thrown over.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void PrintText(const Json& config, const Json& memory, const SafetensorsCheckpoint& checkpoint) {
  for (const auto& [key, value] : config.items()) {
    std::printf("%-26s %s\n", key.c_str(), Dump(value).c_str());
  }
  std::printf("\n");
  for (const SafetensorsInfo& info : checkpoint.tensors()) {
    std::printf("%-64s %-20s %10s\n", Quoted(info.name, 200).c_str(), info.Describe().c_str(),
                HumanBytes(info.size_bytes).c_str());
  }
  std::printf("\n");
  for (const auto& [key, value] : memory.items()) {
    const auto number = value.get<uint64_t>();
    const bool bytes = key.find("bytes") != std::string::npos;
    std::printf("%-30s %s\n", key.c_str(),
                bytes ? HumanBytes(number).c_str() : StrCat(number).c_str());
  }
}

Result<MemoryPlan> PlanOf(const InspectOptions& options, const ModelConfig& config) {
  size_t limit = std::numeric_limits<size_t>::max();
  if (!options.memory.empty()) {
    GDN_ASSIGN_OR_RETURN(limit, ParseMemoryLimit(options.memory, AvailableMemoryBytes()));
  }
  return PlanMemory(options.model_dir, config, options.engine, limit, [&](const RunLimits& limits) {
    return EstimateNeeds(options.model_dir, config, limits, Device{}, options.num_threads);
  });
}

Status Inspect(const InspectOptions& options) {
  GDN_ASSIGN_OR_RETURN(const ModelConfig config, LoadModelConfig(options.model_dir));
  GDN_ASSIGN_OR_RETURN(const SafetensorsCheckpoint checkpoint,
                       SafetensorsCheckpoint::Open(options.model_dir));
  GDN_ASSIGN_OR_RETURN(const MemoryPlan plan, PlanOf(options, config));
  const Json config_json = ConfigJson(config);
  const Json memory_json = MemoryJson(plan);
  if (options.json) {
    std::printf("%s\n", Dump({{"config", config_json},
                              {"memory", memory_json},
                              {"tensors", TensorsJson(checkpoint)}})
                            .c_str());
  } else {
    PrintText(config_json, memory_json, checkpoint);
  }
  return OkStatus();
}

}  // namespace

void AddInspectCommand(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("inspect", "Show a checkpoint's config, tensors and memory needs");
  const auto options = std::make_shared<InspectOptions>();
  options->num_threads = NumCores();
  command->add_option("model,-m,--model", options->model_dir, "Checkpoint folder")->required();
  AddNumberOption(*command, "-c,--ctx", options->engine.context_tokens,
                  "Context in tokens; 0: the model's, at most 4096");
  AddNumberOption(*command, "--max-seqs", options->engine.max_seqs, "Requests that run at once")
      ->capture_default_str();
  command->add_option("--memory", options->memory,
                      "Plan within so much: 8GiB, or a share of what is available, 80% "
                      "(default: all that is wanted)");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &exit_code] {
    const Status status = Inspect(*options);
    if (!status.ok()) exit_code = Report(status);
  });
}

}  // namespace gdn
