// SPDX-License-Identifier: Apache-2.0
// The weights of a dense Qwen3.5 model, as its layers hold them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "io/safetensors.h"
#include "model/config.h"
#include "model/layers/gated_attention.h"
#include "model/layers/gated_delta_net.h"
#include "model/layers/mlp.h"
#include "model/weight_source.h"

namespace gdn::qwen3_5 {

struct Layer {
  OwnedTensor input_norm;  // [hidden] f32
  std::variant<GatedDeltaNet, GatedAttention> mixer;
  OwnedTensor post_attention_norm;  // [hidden] f32
  Mlp mlp;
};

struct Weights {
  DType dtype = DType::kF32;
  Weight embedding;        // [vocab, hidden], the head too when tied
  Weight head;             // empty when tied
  OwnedTensor final_norm;  // [hidden] f32
  std::vector<Layer> layers;

  const Weight& head_weight() const { return head.empty() ? embedding : head; }
};

GatedDeltaNet::Dims GatedDeltaNetDims(const ModelConfig& config);
GatedAttention::Dims GatedAttentionDims(const ModelConfig& config);

// Bytes of the tensors that the model reads.
size_t WeightBytes(const ModelConfig& config, const SafetensorsCheckpoint& checkpoint,
                   const std::string& prefix);

// prefix: of the source's names, as in ListTensors. A checkpoint's tensors have been checked
// (CheckTensors).
Result<Weights> ReadWeights(const ModelConfig& config, const std::string& prefix,
                            WeightSource& source);

}  // namespace gdn::qwen3_5
