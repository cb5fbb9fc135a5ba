// SPDX-License-Identifier: Apache-2.0
// Linear-attention layer: projections, causal convolution, gated delta rule, gated norm.
#pragma once

#include "base/status.h"
#include "model/layers/layer_context.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"
#include "ops/linear/weight.h"
#include "ops/rms_norm_gated/rms_norm_gated.h"

namespace gdn {

// Which form of the rule a prompt takes.
enum class PrefillRule : uint8_t { kChunk, kRecurrent };

// States of one layer for all slots.
struct GdnStateView {
  Tensor conv;       // [slots, Kc-1, C] D
  Tensor recurrent;  // [slots, Hv, Dv, Dk] f32
};

class GatedDeltaNet {
 public:
  struct Dims {
    int64_t num_key_heads = 0;    // Hk
    int64_t num_value_heads = 0;  // Hv
    int64_t key_dim = 0;          // Dk
    int64_t value_dim = 0;        // Dv
    int64_t conv_kernel = 0;      // Kc
    float rms_norm_eps = 0;
    GateActivation output_gate = GateActivation::kSilu;

    int64_t q_columns() const { return num_key_heads * key_dim; }
    int64_t v_columns() const { return num_value_heads * value_dim; }
    int64_t conv_channels() const { return 2 * q_columns() + v_columns(); }  // C
  };
  struct Weights {
    Weight qkv;           // [C, hidden], rows q | k | v
    Weight z;             // [Hv * Dv, hidden]
    Weight b;             // [Hv, hidden]
    Weight a;             // [Hv, hidden]
    Weight out;           // [hidden, Hv * Dv]
    OwnedTensor conv;     // [C, Kc] D
    OwnedTensor a_log;    // [Hv] f32
    OwnedTensor dt_bias;  // [Hv] f32
    OwnedTensor norm;     // [Dv] f32
  };

  GatedDeltaNet(const Dims& dims, Weights weights) : dims_(dims), weights_(std::move(weights)) {}

  // x [T, hidden] D, in and out; states are read and written.
  Status Forward(const LayerContext& ctx, PrefillRule rule, const GdnStateView& states,
                 const Tensor& x) const;
  static void Measure(Arena& arena, DType dtype, const Dims& dims, int64_t num_tokens);

 private:
  struct Buffers;
  Status Project(const LayerContext& ctx, const Tensor& x, const Buffers& b) const;
  Status Decode(const LayerContext& ctx, const GdnStateView& states, const Buffers& b) const;
  Status Prefill(const LayerContext& ctx, PrefillRule rule, const GdnStateView& states,
                 const Buffers& b) const;

  Dims dims_;
  Weights weights_;
};

}  // namespace gdn
