// SPDX-License-Identifier: Apache-2.0
// Gated MLP: down( D(silu(gate(x))) * up(x) ).
#pragma once

#include "base/status.h"
#include "model/layers/layer_context.h"
#include "ops/linear/weight.h"

namespace gdn {

class Mlp {
 public:
  struct Weights {
    Weight gate;  // [I, hidden]
    Weight up;    // [I, hidden]
    Weight down;  // [hidden, I]
  };

  explicit Mlp(Weights weights) : weights_(std::move(weights)) {}

  // x [T, hidden] D, in and out.
  Status Forward(const LayerContext& ctx, const Tensor& x) const;
  // Takes what Forward takes for num_tokens, to measure an arena.
  static void Measure(Arena& arena, DType dtype, int64_t intermediate_size, int64_t num_tokens);

 private:
  Weights weights_;
};

}  // namespace gdn
