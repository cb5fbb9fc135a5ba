// SPDX-License-Identifier: Apache-2.0
// Full-attention layer of the Qwen3-Next family: per-head q and k norms, partial RoPE, causal
// grouped-query attention over a paged KV cache, sigmoid output gate.
#pragma once

#include "base/status.h"
#include "model/layers/layer_context.h"
#include "ops/attention/attention.h"
#include "ops/linear/weight.h"

namespace gdn {

class GatedAttention {
 public:
  struct Dims {
    int64_t num_heads = 0;     // Hq
    int64_t num_kv_heads = 0;  // Hkv
    int64_t head_dim = 0;      // D
    float rms_norm_eps = 0;
    bool output_gate = true;
  };
  struct Weights {
    Weight q;  // [Hq * D * (2 with output_gate), hidden]: per head the query rows, then the gate's
    Weight k;  // [Hkv * D, hidden]
    Weight v;  // [Hkv * D, hidden]
    Weight o;  // [hidden, Hq * D]
    OwnedTensor q_norm;  // [D] f32
    OwnedTensor k_norm;  // [D] f32
  };

  GatedAttention(const Dims& dims, Weights weights) : dims_(dims), weights_(std::move(weights)) {}

  // x [T, hidden] D, in and out; rope_table [P, rotary_dim] f32; cache is written, then read.
  Status Forward(const LayerContext& ctx, const ConstTensor& rope_table, const KvCacheView& cache,
                 const Tensor& x) const;
  static void Measure(Arena& arena, DType dtype, const Dims& dims, int64_t num_tokens);

 private:
  Dims dims_;
  Weights weights_;
};

}  // namespace gdn
