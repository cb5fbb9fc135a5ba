// SPDX-License-Identifier: Apache-2.0
// What a dense Qwen3.5 model takes of memory, and the activations that outlive a layer.
#pragma once

#include "model/arena.h"
#include "model/config.h"
#include "model/model.h"

namespace gdn::qwen3_5 {

// Activations that live through all layers.
struct Stream {
  Tensor x;         // [T, hidden] D: the input of a block, then its output
  Tensor residual;  // [T, hidden] D

  Stream(Arena& arena, DType dtype, const ModelConfig& config, int64_t num_tokens)
      : x(arena.Take(dtype, {num_tokens, config.hidden_size})),
        residual(arena.Take(dtype, {num_tokens, config.hidden_size})) {}
};

// The rows whose logits are wanted, and their logits.
struct Tail {
  Tensor x;         // [M, hidden] D
  Tensor residual;  // [M, hidden] D
  Tensor logits;    // [M, vocab] f32
  Tensor largest;   // [M] i32

  Tail(Arena& arena, DType dtype, const ModelConfig& config, int64_t num_rows)
      : x(arena.Take(dtype, {num_rows, config.hidden_size})),
        residual(arena.Take(dtype, {num_rows, config.hidden_size})),
        logits(arena.Take(DType::kF32, {num_rows, config.vocab_size})),
        largest(arena.Take(DType::kI32, {num_rows})) {}
};

size_t ActivationBytes(const ModelConfig& config, DType dtype, const RunLimits& limits);
size_t KernelScratchBytes(const ModelConfig& config, DType dtype, const RunLimits& limits,
                          const Device& device, int num_threads);
MemoryNeeds Needs(const ModelConfig& config, DType dtype, size_t weight_bytes,
                  const RunLimits& limits, const Device& device, int num_threads);

}  // namespace gdn::qwen3_5
