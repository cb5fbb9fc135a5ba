// SPDX-License-Identifier: Apache-2.0
#include "bench/model_cost.h"

#include "bench/op_case.h"
#include "model/layer_pools.h"

namespace gdn {
namespace {

// Weights that a token of each kind of layer meets.
int64_t LinearAttentionWeights(const ModelConfig& c) {
  const int64_t in = c.conv_channels() + c.linear_value_size() + 2 * c.linear_num_value_heads;
  return c.hidden_size * (in + c.linear_value_size());
}

int64_t FullAttentionWeights(const ModelConfig& c) {
  return c.hidden_size * (c.q_proj_size() + 2 * c.kv_size() + c.q_size());
}

int64_t MlpWeights(const ModelConfig& c) { return 3 * c.hidden_size * c.intermediate_size; }

}  // namespace

StepCost& StepCost::operator+=(const StepCost& other) {
  flops += other.flops;
  bytes += other.bytes;
  return *this;
}

StepCost CostOf(const ModelConfig& c, DType dtype, const StepShape& step) {
  const int64_t linear_layers = c.CountLayers(LayerKind::kLinearAttention);
  const int64_t full_layers = c.CountLayers(LayerKind::kFullAttention);
  const int64_t weights = linear_layers * LinearAttentionWeights(c) +
                          full_layers * FullAttentionWeights(c) + c.num_layers * MlpWeights(c);
  const int64_t head = c.hidden_size * c.vocab_size;
  const int64_t k_dim = c.linear_key_head_dim;
  const int64_t v_dim = c.linear_value_head_dim;
  const double rule = step.chunk ? GdnChunkFlops(step.tokens, k_dim, v_dim)
                                 : GdnRecurrentFlops(step.tokens, k_dim, v_dim);
  const double attention = AttentionFlops(step.position, step.tokens, c.num_heads, c.head_dim);
  const auto sequences = static_cast<double>(step.sequences);
  StepCost out;
  out.flops = 2 * static_cast<double>(weights) * static_cast<double>(step.tokens) +
              2 * static_cast<double>(head) * static_cast<double>(step.logit_rows) +
              rule * static_cast<double>(linear_layers * c.linear_num_value_heads) +
              attention * static_cast<double>(full_layers);
  out.flops *= sequences;
  const int64_t kv_elements = full_layers * 2 * c.kv_size() * (step.position + step.tokens);
  out.bytes = BytesOf(weights + (step.logit_rows > 0 ? head : 0), dtype) +
              sequences * (BytesOf(kv_elements, dtype) +
                           2 * static_cast<double>(LayerPools::StateBytesPerSlot(c, dtype)));
  return out;
}

}  // namespace gdn
