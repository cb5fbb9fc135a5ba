// SPDX-License-Identifier: Apache-2.0
// The tensors of a dense Qwen3.5 checkpoint: names, shapes, and what each is.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "io/safetensors.h"
#include "model/config.h"
#include "tensor/tensor.h"

namespace gdn::qwen3_5 {

enum class TensorRole {
  kEmbedding,  // [vocab, hidden]
  kHead,       // lm_head, [vocab, hidden]; absent when tied
  kLinear,     // [out, in]
  kGemmaNorm,  // stored minus one
  kGatedNorm,  // the norm of a linear layer's output, stored as it is
  kConv,       // [channels, 1, kernel]
  kALog,
  kDtBias,
};

struct TensorSpec {
  std::string name;
  Shape shape;
  TensorRole role;
};

// In the order of the forward pass. prefix is "model.language_model." or "model."; lm_head.weight
// has none.
std::vector<TensorSpec> ListTensors(const ModelConfig& config, const std::string& prefix);

// The prefix under which the checkpoint keeps the text model. kNotFound where it has no
// embed_tokens.weight under either.
Result<std::string> FindPrefix(const SafetensorsCheckpoint& checkpoint);

// That every tensor of the list is there, with its shape and a dtype that fits: embedding, head
// and linears all have the embedding's dtype (F32, F16 or BF16), the others any of the three.
// Other tensors (mtp.*, model.visual.*, an lm_head.weight of tied embeddings) are ignored.
// Errors name the file and the tensor, what it is and what it must be.
Status CheckTensors(const ModelConfig& config, const SafetensorsCheckpoint& checkpoint);

}  // namespace gdn::qwen3_5
