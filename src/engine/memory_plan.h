// SPDX-License-Identifier: Apache-2.0
// How the memory that may be used is shared between the requests that run, the keys and values of
// their contexts, and the states kept of earlier prompts.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/function_ref.h"
#include "base/status.h"
#include "engine/engine.h"
#include "model/model.h"

namespace gdn {

// EngineConfig::num_snapshots that PlanMemory is to choose.
inline constexpr int64_t kAutoSnapshots = -1;
// What it chooses at least.
inline constexpr int64_t kMinAutoSnapshots = 2;

struct MemoryPlan {
  EngineConfig config;     // kv_tokens and num_snapshots are set
  RunLimits limits;        // of that config
  MemoryNeeds needs;       // for those limits; scratch with that of samplers
  size_t total_bytes = 0;  // swap_bytes included
};

// Fills in what the wishes leave open: kv_tokens 0 stands for max_seqs whole contexts,
// kAutoSnapshots for two states a request that runs and one each snapshot_interval of kv_tokens.
// Where that is more than limit_bytes, snapshots shrink to half of what one context and everything
// fixed leave, then keys and values to one context, then snapshots to kMinAutoSnapshots. Given
// numbers stay. name is the model's, for messages. What needs says must not depend on num_slots and
// num_blocks. Errors: those of Engine::Limits and of needs; kOutOfMemory, by kind, where the least
// does not fit.
using NeedsOf = FunctionRef<Result<MemoryNeeds>(const RunLimits& limits)>;
Result<MemoryPlan> PlanMemory(std::string_view name, const ModelConfig& model,
                              const EngineConfig& wishes, size_t limit_bytes, NeedsOf needs);

// The value of a --memory option: bytes ("8GiB", "1.5GiB", "512MiB", "6GB",
// "1000000") or a share of the memory that is available ("80%", "0.8"), which is 0 where the system
// does not say. Errors: kInvalidArgument.
Result<size_t> ParseMemoryLimit(std::string_view text, size_t available_bytes);

}  // namespace gdn
