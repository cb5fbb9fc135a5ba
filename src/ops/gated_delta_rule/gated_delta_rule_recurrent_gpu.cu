// SPDX-License-Identifier: Apache-2.0
// A block takes sixteen value rows of one head of one sequence through all of its tokens, sixteen
// threads a row, with the state in registers; see gated_delta_rule.h. The state is read and written
// once a call; a token's key is read once a block, out of a cache but for the first of a head. Sums
// have the order of the scalar reference.
#include "ops/common/gpu_rows.h"
#include "ops/gated_delta_rule/gated_delta_rule_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

using GdrParams = gpu::GatedDeltaRuleParams;
constexpr uint32_t kThreads = gpu::kGdrRecurrentRows * 16;

template <class T>
GDN_DEVICE float KeyElement(const gpu::Heads& keys, bool is_wide, uint32_t token, uint32_t head,
                            uint32_t d) {
  return is_wide ? HeadAt<float>(keys, token, head)[d] : ToF32(HeadAt<T>(keys, token, head)[d]);
}

// The row of the state that sixteen threads have, every sixteenth element each: at most 16
// kPerLane.
template <class T, uint32_t kPerLane>
struct StateRow {
  float s[kPerLane];

  GDN_DEVICE void Load(const GdrParams& p, int64_t at, uint32_t lane, bool is_there) {
    GDN_UNROLL for (uint32_t e = 0; e < kPerLane; ++e) {
      const uint32_t d = lane + 16 * e;
      s[e] = 0;
      if (!is_there || d >= p.k_dim) continue;
      s[e] = p.has_wide_state != 0 ? static_cast<const float*>(p.state)[at + d]
                                   : ToF32(static_cast<const T*>(p.state)[at + d]);
    }
  }
  GDN_DEVICE void Store(const GdrParams& p, int64_t at, uint32_t lane) const {
    GDN_UNROLL for (uint32_t e = 0; e < kPerLane; ++e) {
      const uint32_t d = lane + 16 * e;
      if (d >= p.k_dim) continue;
      if (p.has_wide_state != 0) {
        static_cast<float*>(p.state)[at + d] = s[e];
      } else {
        static_cast<T*>(p.state)[at + d] = FromF32<T>(s[e]);
      }
    }
  }
  // S *= a; d = (v - S k) b; S += d k^T; o = S (q scale): the row's o.
  GDN_DEVICE float Step(const GdrParams& p, uint32_t token, uint32_t head, uint32_t lane,
                        float value) {
    const uint32_t key_head = head / p.heads_per_key;
    const float decay = Exp(RowAt<float>(p.log_decay, token)[head]);
    float key[kPerLane];
    float read = 0;
    GDN_UNROLL for (uint32_t e = 0; e < kPerLane; ++e) {
      const uint32_t d = lane + 16 * e;
      key[e] = d < p.k_dim ? KeyElement<T>(p.k, p.has_wide_keys != 0, token, key_head, d) : 0.0F;
      s[e] *= decay;
      read = Fma(key[e], s[e], read);
    }
    const float delta = (value - SumOfSixteen(read)) * RowAt<float>(p.beta, token)[head];
    float o = 0;
    GDN_UNROLL for (uint32_t e = 0; e < kPerLane; ++e) {
      const uint32_t d = lane + 16 * e;
      s[e] = Fma(delta, key[e], s[e]);
      const float query =
          d < p.k_dim ? KeyElement<T>(p.q, p.has_wide_keys != 0, token, key_head, d) * p.scale
                      : 0.0F;
      o = Fma(query, s[e], o);
    }
    return SumOfSixteen(o);
  }
};

template <class T, uint32_t kPerLane>
GDN_GLOBAL(kThreads)
void GatedDeltaRuleRecurrent(GdrParams p) {
  const uint32_t sequence = BlockZ();
  const uint32_t head = BlockY();
  const uint32_t lane = ThreadIndex() % 16;
  const uint32_t row = BlockX() * gpu::kGdrRecurrentRows + ThreadIndex() / 16;
  const bool is_row = row < p.v_dim;
  const uint32_t first = FirstToken(p.sequences, sequence);
  const uint32_t last = first + CountTokens(p.sequences, sequence);
  if (first == last) return;
  const auto out_at = [&](uint32_t token) {
    return static_cast<T*>(p.out) +
           (static_cast<uint64_t>(token) * p.num_value_heads + head) * p.v_dim + row;
  };
  const int32_t slot = p.sequences.state_slots[sequence];
  if (slot <= 0) {
    for (uint32_t token = first + lane; is_row && token < last; token += 16) {
      *out_at(token) = FromF32<T>(0);
    }
    return;
  }
  const int64_t at = slot * p.slot_stride + (static_cast<int64_t>(head) * p.v_dim + row) * p.k_dim;
  StateRow<T, kPerLane> state;
  state.Load(p, at, lane, is_row && p.sequences.has_initial_state[sequence] != 0);
  for (uint32_t token = first; token < last; ++token) {
    const float value = is_row ? ToF32(HeadAt<T>(p.v, token, head)[row]) : 0.0F;
    const float o = state.Step(p, token, head, lane, value);
    if (is_row && lane == 0) *out_at(token) = FromF32<T>(o);
  }
  if (is_row) state.Store(p, at, lane);
}

// For keys of up to 64, 128 and 256 elements.
#define GDN_RECURRENT_INSTANCES(T)                                \
  GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleRecurrent<T, 4>),     \
      GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleRecurrent<T, 8>), \
      GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleRecurrent<T, 16>)

GDN_GPU_INSTANCES(gated_delta_rule_recurrent) = {
    GDN_RECURRENT_INSTANCES(float), GDN_RECURRENT_INSTANCES(F16), GDN_RECURRENT_INSTANCES(Bf16)};

}  // namespace gdn::GDN_GPU_NAMESPACE
