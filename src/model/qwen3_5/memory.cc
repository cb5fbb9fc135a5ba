// SPDX-License-Identifier: Apache-2.0
#include "model/qwen3_5/memory.h"

#include <algorithm>

#include "model/layer_pools.h"
#include "model/qwen3_5/weights.h"
#include "ops/linear/linear.h"

namespace gdn::qwen3_5 {

size_t ActivationBytes(const ModelConfig& config, DType dtype, const RunLimits& limits) {
  Arena arena;
  Stream(arena, dtype, config, limits.max_tokens);
  GatedDeltaNet::Measure(arena, dtype, GatedDeltaNetDims(config), limits.max_tokens);
  GatedAttention::Measure(arena, dtype, GatedAttentionDims(config), limits.max_tokens);
  Mlp::Measure(arena, dtype, config.intermediate_size, limits.max_tokens);
  Tail(arena, dtype, config, limits.max_logit_rows);
  return arena.peak_bytes();
}

size_t KernelScratchBytes(const ModelConfig& config, DType dtype, const RunLimits& limits,
                          const Device& device, int num_threads) {
  if (device.type != DeviceType::kCpu) {
    return GatedDeltaRuleDeviceScratchBytes(dtype, config.linear_num_value_heads,
                                            config.linear_key_head_dim,
                                            config.linear_value_head_dim, limits.max_tokens);
  }
  const int64_t max_cols = std::max(
      {config.hidden_size, config.intermediate_size, config.linear_value_size(), config.q_size()});
  const int64_t max_rows = std::max(limits.max_tokens, limits.max_logit_rows);
  return std::max({LinearScratchBytes(max_rows, max_cols, num_threads),
                   GatedDeltaRuleScratchBytes(config.linear_key_head_dim,
                                              config.linear_value_head_dim, num_threads),
                   AttentionScratchBytes(config.num_heads, config.head_dim, num_threads)});
}

MemoryNeeds Needs(const ModelConfig& config, DType dtype, size_t weight_bytes,
                  const RunLimits& limits, const Device& device, int num_threads) {
  const auto rope_bytes =
      static_cast<size_t>(limits.max_positions * config.rotary_dim) * sizeof(float);
  return {.weight_bytes = weight_bytes,
          .state_bytes = LayerPools::StateBytesPerSlot(config, dtype),
          .kv_block_bytes = LayerPools::KvBytesPerBlock(config, dtype),
          .scratch_bytes = ActivationBytes(config, dtype, limits) +
                           KernelScratchBytes(config, dtype, limits, device, num_threads) +
                           rope_bytes};
}

}  // namespace gdn::qwen3_5
