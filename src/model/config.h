// SPDX-License-Identifier: Apache-2.0
// The facts of a checkpoint that its config.json states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/rms_norm_gated/rms_norm_gated.h"

namespace gdn {

enum class LayerKind { kLinearAttention, kFullAttention };

// Every number is checked to lie within bounds under which no product of the ones that make a
// tensor's shape can overflow.
struct ModelConfig {
  std::string architecture;  // "Qwen3_5ForCausalLM"
  int64_t vocab_size = 0;
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_layers = 0;  // without multi-token-prediction layers
  int64_t max_positions = 0;
  float rms_norm_eps = 0;
  bool tie_word_embeddings = false;
  std::vector<LayerKind> layers;  // [num_layers]

  // Full attention.
  int64_t num_heads = 0;  // a multiple of num_kv_heads
  int64_t num_kv_heads = 0;
  int64_t head_dim = 0;
  bool attn_output_gate = true;  // q_proj carries a gate for each query row
  double rope_theta = 0;
  int64_t rotary_dim = 0;  // even, <= head_dim

  // Gated delta net.
  int64_t conv_kernel = 0;
  int64_t linear_num_key_heads = 0;
  int64_t linear_num_value_heads = 0;  // a multiple of linear_num_key_heads
  int64_t linear_key_head_dim = 0;
  int64_t linear_value_head_dim = 0;
  GateActivation output_gate = GateActivation::kSilu;

  std::optional<int32_t> bos_token_id;
  std::vector<int32_t> eos_token_ids;  // generation_config.json's first; each once
  int64_t num_mtp_layers = 0;          // declared; the model does not run them

  // Rows of q, k and v of a linear layer together, which are the channels of its convolution.
  int64_t conv_channels() const { return 2 * linear_key_size() + linear_value_size(); }
  int64_t linear_key_size() const { return linear_num_key_heads * linear_key_head_dim; }
  int64_t linear_value_size() const { return linear_num_value_heads * linear_value_head_dim; }
  int64_t q_size() const { return num_heads * head_dim; }
  int64_t kv_size() const { return num_kv_heads * head_dim; }
  // Rows of q_proj: per head, the query's, then the gate's.
  int64_t q_proj_size() const { return q_size() * (attn_output_gate ? 2 : 1); }
  int64_t CountLayers(LayerKind kind) const;
};

// From the text of a config.json, flat or with the text model nested in text_config. A key that
// is absent has the default of the reference. file_name is for messages.
// Errors: kUnsupported for an architecture or feature that this build does not run,
// kInvalidArgument for the rest; one line that names the file and the key.
Result<ModelConfig> ParseModelConfig(std::string_view json, const std::string& file_name);

// dir/config.json, and the end-of-text ids of dir/generation_config.json where there is one.
Result<ModelConfig> LoadModelConfig(const std::string& dir);

}  // namespace gdn
