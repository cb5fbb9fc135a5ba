// SPDX-License-Identifier: Apache-2.0
// The state of a head as panels of value columns, [K, W] each: W columns are one tile.

#if defined(GDN_OPS_GATED_DELTA_RULE_STATE_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_GATED_DELTA_RULE_STATE_PANELS_INL_H_
#undef GDN_OPS_GATED_DELTA_RULE_STATE_PANELS_INL_H_
#else
#define GDN_OPS_GATED_DELTA_RULE_STATE_PANELS_INL_H_
#endif

#include "ops/common/transpose-inl.h"
#include "ops/gated_delta_rule/chunk_product-inl.h"
#include "ops/gated_delta_rule/chunk_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// state_t panels from or to the pool's [V, K]; a null pool reads as zeros.
inline void LoadState(const float* pool, const Chunk& chunk, float* state_t) {
  const size_t width = TileColumns();
  for (size_t v0 = 0; v0 < chunk.v_dim; v0 += width) {
    float* panel = state_t + v0 * chunk.padded_k;
    std::fill_n(panel, chunk.padded_k * width, 0.0F);
    if (pool == nullptr) continue;
    Transpose(pool + v0 * chunk.k_dim, chunk.k_dim, HWY_MIN(width, chunk.v_dim - v0), chunk.k_dim,
              panel, width);
  }
}

inline void StoreState(const float* state_t, const Chunk& chunk, float* pool) {
  const size_t width = TileColumns();
  for (size_t v0 = 0; v0 < chunk.v_dim; v0 += width) {
    Transpose(state_t + v0 * chunk.padded_k, width, chunk.k_dim, HWY_MIN(width, chunk.v_dim - v0),
              pool + v0 * chunk.k_dim, chunk.k_dim);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_GATED_DELTA_RULE_STATE_PANELS_INL_H_
