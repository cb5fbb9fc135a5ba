// SPDX-License-Identifier: Apache-2.0
// The recurrence, a block of tokens a pass. With S the state before the block, P_t the decay from
// there to token t and D_ti that from token i to token t:
//   d_t = b_t (v_t - P_t S k_t - sum over i < t of D_ti (k_i . k_t) d_i)
//   o_t = P_t S q_t + sum over i <= t of D_ti (k_i . q_t) d_i
//   S   = P_n S + sum over i of D_ni d_i k_i^T
// Value columns never meet, so a panel of them goes through a chunk of blocks while its state is in
// the first-level cache.
#include "ops/gated_delta_rule/gated_delta_rule_cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gated_delta_rule/gated_delta_rule_blocked_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/scalar_math.h"
#include "ops/gated_delta_rule/chunk_product-inl.h"
#include "ops/gated_delta_rule/chunk_rows-inl.h"
#include "ops/gated_delta_rule/partial_sums-inl.h"
#include "ops/gated_delta_rule/state_panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

constexpr auto kBlockTokens = static_cast<size_t>(kRuleBlock);
constexpr size_t kBlockRowsRead = 2 * kBlockTokens;

template <class T>
void LoadBlockRow(const T* row, const Chunk& chunk, bool valid, float factor, float* out) {
  if (!valid) {
    std::fill_n(out, chunk.padded_k, 0.0F);
    return;
  }
  const VF factor_vec = hn::Set(DF(), factor);
  ForEachVec(chunk.k_dim, [&](size_t d, size_t n) HWY_ATTR {
    StoreVecAny(hn::Mul(LoadVecAny(row + d, n), factor_vec), out + d, n);
  });
  std::fill(out + chunk.k_dim, out + chunk.padded_k, 0.0F);
}

// Tokens past the chunk's end: zero rows, no decay, beta 0. They change nothing.
void LoadBlockGates(const GatedDeltaRuleArgs& args, const HeadTask& task, const Chunk& chunk,
                    size_t first, const float* rows, BlockGates& gates) {
  std::array<float, kBlockTokens> decay_to{};  // D_ti of the token at hand
  float from_start = 1;
  for (size_t t = 0; t < kBlockTokens; ++t) {
    const bool valid = first + t < chunk.num_tokens;
    const int64_t token = chunk.first_token + static_cast<int64_t>(first + t);
    const float decay = valid ? ExpF32(args.log_decay.Row<float>(token)[task.value_head]) : 1.0F;
    from_start *= decay;
    gates.decay[t] = from_start;
    gates.beta[t] = valid ? args.beta.Row<float>(token)[task.value_head] : 0.0F;
    for (size_t i = 0; i < t; ++i) decay_to[i] *= decay;
    decay_to[t] = 1;
    HWY_ALIGN std::array<float, 4> keys;
    HWY_ALIGN std::array<float, 4> queries;
    const size_t stride = chunk.key_stride;
    hn::StoreU(ReadRows(rows, stride, chunk.padded_k, rows + t * stride, 1.0F), D4(), keys.data());
    hn::StoreU(ReadRows(rows, stride, chunk.padded_k, rows + (kBlockTokens + t) * stride, 1.0F),
               D4(), queries.data());
    for (size_t i = 0; i <= t; ++i) {
      gates.keys[t * kBlockTokens + i] = decay_to[i] * keys[i];
      gates.queries[t * kBlockTokens + i] = decay_to[i] * queries[i];
    }
  }
  gates.tail = decay_to;
}

template <class T>
void LoadBlocks(const GatedDeltaRuleArgs& args, const HeadTask& task, const Chunk& chunk,
                const StagedRows<T>& staged, const BlockedScratch& s) {
  for (size_t first = 0; first < chunk.num_tokens; first += kBlockTokens) {
    float* rows = s.rows + 2 * first * chunk.key_stride;
    for (size_t t = 0; t < kBlockTokens; ++t) {
      const bool valid = first + t < chunk.num_tokens;
      const size_t from = (first + t) * chunk.k_dim;
      LoadBlockRow(staged.k + from, chunk, valid, 1.0F, rows + t * chunk.key_stride);
      LoadBlockRow(staged.q + from, chunk, valid, args.scale,
                   rows + (kBlockTokens + t) * chunk.key_stride);
    }
    LoadBlockGates(args, task, chunk, first, rows, s.gates[first / kBlockTokens]);
  }
}

// v to panels of [C, W], and o back.
template <class T>
void LoadPanels(const Chunk& chunk, const T* rows, float* values) {
  const size_t width = TileColumns();
  for (size_t i = 0; i < RoundUp(chunk.num_tokens, kBlockTokens); ++i) {
    for (size_t v0 = 0; v0 < chunk.v_dim; v0 += width) {
      float* out = values + v0 * kChunkStride + i * width;
      const size_t columns = i < chunk.num_tokens ? HWY_MIN(width, chunk.v_dim - v0) : 0;
      ForEachTileVec(columns, [&](size_t c, size_t n) GDN_INLINE_LAMBDA {
        StoreVec(n == 0 ? hn::Zero(DF()) : LoadVecAny(rows + i * chunk.v_dim + v0 + c, n), out + c);
      });
    }
  }
}

template <class T>
void StorePanels(const GatedDeltaRuleArgs& args, const HeadTask& task, const Chunk& chunk,
                 const float* values) {
  const size_t width = TileColumns();
  for (size_t i = 0; i < chunk.num_tokens; ++i) {
    T* row = args.out.As<T>() +
             OffsetOf(args.out, chunk.first_token + static_cast<int64_t>(i), task.value_head, 0);
    for (size_t v0 = 0; v0 < chunk.v_dim; v0 += width) {
      const float* from = values + v0 * kChunkStride + i * width;
      ForEachTileVec(HWY_MIN(width, chunk.v_dim - v0), [&](size_t c, size_t n) GDN_INLINE_LAMBDA {
        if (n > 0) StoreVecAny(LoadVec(from + c), row + v0 + c, n);
      });
    }
  }
}

// From read, the rows times S: values [tokens, W] become o, read's first rows D_ni d_i.
HWY_INLINE void SolveBlock(const BlockGates& gates, float* HWY_RESTRICT read,
                           float* HWY_RESTRICT values) {
  const DF d;
  const size_t width = TileColumns();
  for (size_t c = 0; c < width; c += hn::Lanes(d)) {
    VF delta[kBlockTokens];  // a C array: every index is a constant after unrolling
    HWY_UNROLL(4)
    for (size_t t = 0; t < kBlockTokens; ++t) {
      VF known = hn::Mul(hn::Set(d, gates.decay[t]), LoadVec(read + t * width + c));
      HWY_UNROLL(4)
      for (size_t i = 0; i < t; ++i) {
        known = hn::MulAdd(hn::Set(d, gates.keys[t * kBlockTokens + i]), delta[i], known);
      }
      delta[t] =
          hn::Mul(hn::Sub(LoadVec(values + t * width + c), known), hn::Set(d, gates.beta[t]));
    }
    HWY_UNROLL(4)
    for (size_t t = 0; t < kBlockTokens; ++t) {
      VF out = hn::Mul(hn::Set(d, gates.decay[t]), LoadVec(read + (kBlockTokens + t) * width + c));
      HWY_UNROLL(4)
      for (size_t i = 0; i <= t; ++i) {
        out = hn::MulAdd(hn::Set(d, gates.queries[t * kBlockTokens + i]), delta[i], out);
      }
      StoreVec(out, values + t * width + c);
    }
    HWY_UNROLL(4)
    for (size_t t = 0; t < kBlockTokens; ++t) {
      StoreVec(hn::Mul(delta[t], hn::Set(d, gates.tail[t])), read + t * width + c);
    }
  }
}

// S = P_n S + sum of deltas [tokens, W] times keys, in one pass.
HWY_INLINE void UpdatePanel(const Chunk& chunk, float decay, const float* HWY_RESTRICT keys,
                            const float* HWY_RESTRICT deltas, float* HWY_RESTRICT state) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const size_t width = TileColumns();
  VF lo[kBlockTokens];
  VF hi[kBlockTokens];
  HWY_UNROLL(4)
  for (size_t t = 0; t < kBlockTokens; ++t) {
    lo[t] = LoadVec(deltas + t * width);
    hi[t] = LoadVec(deltas + t * width + lanes);
  }
  const VF decay_vec = hn::Set(d, decay);
  for (size_t j = 0; j < chunk.k_dim; ++j, state += width) {
    VF low = hn::Mul(LoadVec(state), decay_vec);
    VF high = hn::Mul(LoadVec(state + lanes), decay_vec);
    HWY_UNROLL(4)
    for (size_t t = 0; t < kBlockTokens; ++t) {
      const VF key = hn::Set(d, keys[t * chunk.key_stride + j]);
      low = hn::MulAdd(key, lo[t], low);
      high = hn::MulAdd(key, hi[t], high);
    }
    StoreTileRow(low, high, state);
  }
}

void RunPanel(const Chunk& chunk, float* state, float* values, const BlockedScratch& s) {
  const size_t width = TileColumns();
  for (size_t first = 0; first < chunk.num_tokens; first += kBlockTokens) {
    const float* rows = s.rows + 2 * first * chunk.key_stride;
    const BlockGates& gates = s.gates[first / kBlockTokens];
    for (size_t r0 = 0; r0 < kBlockRowsRead; r0 += kTileRows) {
      ProductTile(rows + r0 * chunk.key_stride, chunk.key_stride, state, width, chunk.k_dim,
                  [&](size_t r, VF lo, VF hi)
                      GDN_INLINE_LAMBDA { StoreTileRow(lo, hi, s.read + (r0 + r) * width); });
    }
    SolveBlock(gates, s.read, values + first * width);
    UpdatePanel(chunk, gates.decay[kBlockTokens - 1], rows, s.read, state);
  }
}

template <class T>
void RunBlockedHead(const GatedDeltaRuleArgs& args, const HeadTask& task, std::byte* memory) {
  const int64_t k_dim = args.k.dim(2);
  const int64_t v_dim = args.v.dim(2);
  ScratchDivider divider(memory);
  const BlockedScratch s(divider, k_dim, v_dim);
  Chunk chunk = ChunkOf(k_dim, v_dim);
  const size_t width = TileColumns();
  const size_t num_panels = (chunk.v_dim + width - 1) / width;
  float* pool = HeadState(args, task);
  LoadState(task.has_initial_state ? pool : nullptr, chunk, s.state_t);
  const StagedRows<T> staged(chunk, s.staged);
  Stager<T>(args, task, task.first_token, 1, staged).Finish();
  for (int64_t first = task.first_token; first < task.last_token; first += kChunkSize) {
    chunk.first_token = first;
    chunk.num_tokens = static_cast<size_t>(std::min(kChunkSize, task.last_token - first));
    LoadBlocks(args, task, chunk, staged, s);
    LoadPanels(chunk, staged.v, s.values);
    Stager<T> next(args, task, first + kChunkSize, num_panels, staged);
    for (size_t v0 = 0; v0 < chunk.v_dim; v0 += width) {
      next.Step();
      RunPanel(chunk, s.state_t + v0 * chunk.padded_k, s.values + v0 * kChunkStride, s);
    }
    next.Finish();
    StorePanels<T>(args, task, chunk, s.values);
  }
  StoreState(s.state_t, chunk, pool);
}

void RunBlockedTask(const GatedDeltaRuleArgs& args, const HeadTask& task, std::byte* memory) {
  DispatchFloat(args.v.dtype, [&](auto v) { RunBlockedHead<decltype(v)>(args, task, memory); });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {
namespace {

HWY_EXPORT(RunBlockedTask);

}  // namespace

void RunBlockedCpu(const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  ForEachHead(ctx, args, [&](const HeadTask& task, std::byte* memory) {
    HWY_DYNAMIC_DISPATCH(RunBlockedTask)(args, task, memory);
  });
}

}  // namespace gdn
#endif  // HWY_ONCE
