// SPDX-License-Identifier: Apache-2.0
#include "ops/gated_delta_rule/gated_delta_rule_cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gated_delta_rule/gated_delta_rule_chunk_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/simd-inl.h"
#include "ops/common/transpose-inl.h"
#include "ops/gated_delta_rule/chunk_inverse-inl.h"
#include "ops/gated_delta_rule/chunk_product-inl.h"
#include "ops/gated_delta_rule/chunk_rows-inl.h"
#include "ops/gated_delta_rule/state_panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// ---- inputs ----

// Staged rows of q or k, widened; zero rows from num_tokens on.
template <class T>
void LoadKeyRows(const T* rows, const Chunk& chunk, float* out) {
  for (size_t i = 0; i < chunk.num_rows; ++i) {
    float* out_row = out + i * chunk.key_stride;
    if (i >= chunk.num_tokens) {
      std::fill_n(out_row, chunk.padded_k, 0.0F);
      continue;
    }
    const T* row = rows + i * chunk.k_dim;
    ForEachVec(chunk.k_dim, [&](size_t d, size_t n)
                                HWY_ATTR { StoreVecAny(LoadVecAny(row + d, n), out_row + d, n); });
    std::fill(out_row + chunk.k_dim, out_row + chunk.padded_k, 0.0F);
  }
}

void TransposeKeys(const Chunk& chunk, const ChunkScratch& s) {
  const size_t rows = RoundUp(chunk.k_dim, kTileRows);
  Transpose(s.k, chunk.key_stride, chunk.num_rows, rows, s.k_t, kTransposed);
  for (size_t d = 0; d < rows; ++d) {
    std::fill_n(s.k_t + d * kTransposed + chunk.num_rows, kChunkStride - chunk.num_rows, 0.0F);
  }
}

// chunk_local_cumsum and everything that depends on the gates alone.
void LoadGates(const GatedDeltaRuleArgs& args, const Chunk& chunk, int64_t head,
               const ChunkScratch& s) {
  const DF d;
  for (size_t i = 0; i < kChunkStride; ++i) {
    const int64_t token = chunk.first_token + static_cast<int64_t>(i);
    const bool valid = i < chunk.num_tokens;
    s.cum[i] = valid ? args.log_decay.Row<float>(token)[head] : 0.0F;
    s.beta[i] = valid ? args.beta.Row<float>(token)[head] : 0.0F;
  }
  for (size_t step = 1; step < kChunkStride; step *= 2) {
    for (size_t i = kChunkStride; i-- > step;) s.cum[i] += s.cum[i - step];
  }
  const VF last = hn::Set(d, s.cum[chunk.num_tokens - 1]);
  ForEachVec(kChunkStride, [&](size_t i, size_t n) HWY_ATTR {
    const VF cum = LoadVecAny(s.cum + i, n);
    StoreVecAny(ExpVec(cum), s.cum_exp + i, n);
    StoreVecAny(ExpVec(hn::Sub(last, cum)), s.tail_exp + i, n);
  });
  for (size_t i = 0; i < chunk.num_rows; ++i) {
    const VF cum_i = hn::Set(d, s.cum[i]);
    const VF end = hn::Set(d, static_cast<float>(i + 1));
    float* row = s.decay + i * kChunkStride;
    ForEachVec(kChunkStride, [&](size_t j, size_t n) HWY_ATTR {
      if (j > i) {
        StoreVecAny(hn::Zero(d), row + j, n);
        return;
      }
      // The select comes after the exp, which may overflow above the diagonal.
      const VF decay = ExpVec(hn::Sub(cum_i, LoadVecAny(s.cum + j, n)));
      const auto lower = hn::Lt(hn::Iota(d, static_cast<float>(j)), end);
      StoreVecAny(hn::IfThenElseZero(lower, decay), row + j, n);
    });
  }
}

// ---- C x C stages ----

// finish(i, j, low, high) for the tiles that reach the lower triangle of rows . k^T.
template <class Finish>
HWY_INLINE void LowerProduct(const Chunk& chunk, const ChunkScratch& s, const float* rows,
                             const Finish& finish) {
  for (size_t j = 0; j < chunk.num_rows; j += TileColumns()) {
    for (size_t i = j / kTileRows * kTileRows; i < chunk.num_rows; i += kTileRows) {
      ProductTile(rows + i * chunk.key_stride, chunk.key_stride, s.k_t + j, kTransposed,
                  chunk.k_dim,
                  [&](size_t r, VF lo, VF hi) GDN_INLINE_LAMBDA { finish(i + r, j, lo, hi); });
    }
  }
}

// chunk_scaled_dot_kkt. The diagonal and what lies above it are not read by the inverse.
template <class T>
void ScaledDotKkt(const Chunk& chunk, bool tf32, const ChunkScratch& s) {
  const DF d;
  const VU mask = hn::Set(DU(), tf32 ? 0xFFFFE000U : 0xFFFFFFFFU);
  for (size_t i = 0; i < chunk.num_rows; ++i) {
    const VF beta = hn::Set(d, s.beta[i]);
    const size_t row = i * chunk.key_stride;
    ForEachVec(chunk.padded_k, [&](size_t c, size_t n) HWY_ATTR {
      const VF k_beta = hn::Mul(LoadVecAny(s.k + row + c, n), beta);
      const VU bits = hn::And(hn::BitCast(DU(), k_beta), mask);
      StoreVecAny(hn::BitCast(d, bits), s.k_beta + row + c, n);
    });
  }
  LowerProduct(chunk, s, s.k_beta, [&](size_t i, size_t j, VF lo, VF hi) GDN_INLINE_LAMBDA {
    const float* decay = s.decay + i * kChunkStride + j;
    StoreTileRow(hn::Mul(lo, LoadVec(decay)), hn::Mul(hi, LoadVec(decay + hn::Lanes(d))),
                 s.a + i * kChunkStride + j);
  });
}

// P of chunk_fwd_o: (q k^T) * decay, the diagonal included, rounded unscaled.
template <class T>
void ScaledDotQk(const Chunk& chunk, const ChunkScratch& s) {
  const DF d;
  LowerProduct(chunk, s, s.q, [&](size_t i, size_t j, VF lo, VF hi) GDN_INLINE_LAMBDA {
    const float* decay = s.decay + i * kChunkStride + j;
    StoreTileRow(RoundVec<T>(hn::Mul(lo, LoadVec(decay))),
                 RoundVec<T>(hn::Mul(hi, LoadVec(decay + hn::Lanes(d)))),
                 s.p + i * kChunkStride + j);
  });
}

template <class T>
void SolveTrilRounded(const Chunk& chunk, const ChunkScratch& s) {
  std::fill_n(s.a_inverse, chunk.num_rows * kChunkStride, 0.0F);
  InvertUnitLower(s.a, s.a_inverse, chunk.num_rows / kBlock);
  for (size_t e = 0; e < chunk.num_rows * kChunkStride; e += hn::Lanes(DF())) {
    StoreVec(RoundVec<T>(LoadVec(s.a_inverse + e)), s.a_inverse + e);
  }
}

// w of recompute_w_u. Row i of the inverse has i + 1 terms: a tile stops where its last row does.
template <class T>
void RecomputeW(const Chunk& chunk, const ChunkScratch& s) {
  const DF d;
  for (size_t i = 0; i < chunk.num_rows; ++i) {
    const VF beta = hn::Set(d, s.beta[i]);
    const VF decay = hn::Set(d, s.cum_exp[i]);
    const size_t row = i * chunk.key_stride;
    ForEachVec(chunk.padded_k, [&](size_t c, size_t n) HWY_ATTR {
      const VF k_beta = hn::Mul(LoadVecAny(s.k + row + c, n), beta);
      StoreVecAny(RoundVec<T>(hn::Mul(k_beta, decay)), s.k_beta + row + c, n);
    });
  }
  for (size_t c = 0; c < chunk.k_dim; c += TileColumns()) {
    for (size_t i = 0; i < chunk.num_rows; i += kTileRows) {
      ProductTile(s.a_inverse + i * kChunkStride, kChunkStride, s.k_beta + c, chunk.key_stride,
                  i + kTileRows, [&](size_t r, VF lo, VF hi) GDN_INLINE_LAMBDA {
                    StoreTileRow(RoundVec<T>(lo), RoundVec<T>(hi),
                                 s.w + (i + r) * chunk.key_stride + c);
                  });
    }
  }
}

// ---- stages along a panel of value columns ----

// Floats between two panels of v_beta: a gap keeps their rows out of one set of the L1.
HWY_INLINE size_t ValuePanelStride() { return (kChunkStride + 1) * TileColumns(); }

// What a panel's stages read: its state [K, tile columns] and where it lies in v_beta and out.
template <class T>
struct Panel {
  float* state;
  const float* v_beta;
  T* out;             // of the chunk's first token
  size_t out_stride;  // between tokens
};

template <class T>
void LoadValues(const T* rows, const Chunk& chunk, const ChunkScratch& s) {
  const DF d;
  const size_t width = TileColumns();
  for (size_t i = 0; i < chunk.num_rows; ++i) {
    const bool valid = i < chunk.num_tokens;
    const T* row = rows + i * chunk.v_dim;
    const VF beta = hn::Set(d, s.beta[i]);
    for (size_t v0 = 0; v0 < chunk.v_dim; v0 += width) {
      float* out = s.v_beta + v0 / width * ValuePanelStride() + i * width;
      ForEachTileVec(
          valid ? HWY_MIN(width, chunk.v_dim - v0) : 0, [&](size_t c, size_t n) GDN_INLINE_LAMBDA {
            const VF v_beta = n == 0 ? hn::Zero(d) : hn::Mul(LoadVecAny(row + v0 + c, n), beta);
            StoreVec(RoundVec<T>(v_beta), out + c);
          });
    }
  }
}

template <class T>
void RoundState(const Chunk& chunk, const float* state, float* snapshot) {
  for (size_t e = 0; e < RoundUp(chunk.k_dim, kTileRows) * TileColumns(); e += hn::Lanes(DF())) {
    StoreVec(RoundVec<T>(LoadVec(state + e)), snapshot + e);
  }
}

// u of recompute_w_u, then v_new and the decayed v of chunk_fwd_h.
template <class T>
void NewValues(const Chunk& chunk, const Panel<T>& panel, const ChunkScratch& s) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const size_t width = TileColumns();
  float* u = s.read;
  for (size_t i = 0; i < chunk.num_rows; i += kTileRows) {
    ProductTile(s.a_inverse + i * kChunkStride, kChunkStride, panel.v_beta, width, i + kTileRows,
                [&](size_t r, VF lo, VF hi) GDN_INLINE_LAMBDA {
                  StoreTileRow(RoundVec<T>(lo), RoundVec<T>(hi), u + r * width);
                });
    ProductTile(s.w + i * chunk.key_stride, chunk.key_stride, s.snapshot, width, chunk.k_dim,
                [&](size_t r, VF lo, VF hi) GDN_INLINE_LAMBDA {
                  const VF wide_lo = hn::Sub(LoadVec(u + r * width), lo);
                  const VF wide_hi = hn::Sub(LoadVec(u + r * width + lanes), hi);
                  const size_t at = (i + r) * width;
                  StoreTileRow(RoundVec<T>(wide_lo), RoundVec<T>(wide_hi), s.v_new + at);
                  const VF tail = hn::Set(d, s.tail_exp[i + r]);
                  StoreTileRow(RoundVec<T>(hn::Mul(wide_lo, tail)),
                               RoundVec<T>(hn::Mul(wide_hi, tail)), s.v_decayed + at);
                });
  }
}

// chunk_fwd_o.
template <class T>
void Outputs(const Chunk& chunk, const Panel<T>& panel, float scale, const ChunkScratch& s) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const size_t width = TileColumns();
  const VF scale_vec = hn::Set(d, scale);
  float* read = s.read;
  for (size_t i = 0; i < chunk.num_rows; i += kTileRows) {
    ProductTile(s.q + i * chunk.key_stride, chunk.key_stride, s.snapshot, width, chunk.k_dim,
                [&](size_t r, VF lo, VF hi) GDN_INLINE_LAMBDA {
                  const VF decay = hn::Set(d, s.cum_exp[i + r]);
                  StoreTileRow(hn::Mul(hn::Mul(lo, decay), scale_vec),
                               hn::Mul(hn::Mul(hi, decay), scale_vec), read + r * width);
                });
    ProductTile(s.p + i * kChunkStride, kChunkStride, s.v_new, width, i + kTileRows,
                [&](size_t r, VF lo, VF hi) GDN_INLINE_LAMBDA {
                  T* out = panel.out + (i + r) * panel.out_stride;
                  StoreVec(hn::Add(LoadVec(read + r * width), hn::Mul(lo, scale_vec)), out);
                  StoreVec(hn::Add(LoadVec(read + r * width + lanes), hn::Mul(hi, scale_vec)),
                           out + lanes);
                });
  }
}

// The state's step to the chunk's end.
template <class T>
void AdvanceState(const Chunk& chunk, const Panel<T>& panel, const ChunkScratch& s) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const size_t width = TileColumns();
  const VF decay = hn::Set(d, s.cum_exp[chunk.num_tokens - 1]);
  for (size_t row = 0; row < chunk.k_dim; row += kTileRows) {
    ProductTile(s.k_t + row * kTransposed, kTransposed, s.v_decayed, width, chunk.num_tokens,
                [&](size_t r, VF lo, VF hi) GDN_INLINE_LAMBDA {
                  float* p = panel.state + (row + r) * width;
                  StoreTileRow(hn::Add(hn::Mul(LoadVec(p), decay), lo),
                               hn::Add(hn::Mul(LoadVec(p + lanes), decay), hi), p);
                });
  }
}

// ---- a whole head ----

template <class T>
void RunChunk(const GatedDeltaRuleArgs& args, const HeadTask& task, const Chunk& chunk,
              const ChunkScratch& s) {
  const StagedRows<T> staged(chunk, s.staged);
  LoadKeyRows<T>(staged.q, chunk, s.q);
  LoadKeyRows<T>(staged.k, chunk, s.k);
  TransposeKeys(chunk, s);
  LoadGates(args, chunk, task.value_head, s);
  const bool tf32 = !std::is_same_v<T, float> && args.kkt_operand == KktOperand::kTf32;
  ScaledDotKkt<T>(chunk, tf32, s);
  ScaledDotQk<T>(chunk, s);
  SolveTrilRounded<T>(chunk, s);
  RecomputeW<T>(chunk, s);
  LoadValues<T>(staged.v, chunk, s);
  T* out = reinterpret_cast<T*>(s.out);
  const auto out_stride = static_cast<size_t>(PaddedColumns(args.v.dim(2)));
  const size_t width = TileColumns();
  Stager<T> next(args, task, chunk.first_token + kChunkSize, RoundUp(chunk.v_dim, width) / width,
                 staged);
  for (size_t v0 = 0; v0 < chunk.v_dim; v0 += width) {
    const Panel<T> panel = {s.state_t + v0 * chunk.padded_k,
                            s.v_beta + v0 / width * ValuePanelStride(), out + v0, out_stride};
    next.Step();
    RoundState<T>(chunk, panel.state, s.snapshot);
    NewValues<T>(chunk, panel, s);
    Outputs<T>(chunk, panel, args.scale, s);
    AdvanceState<T>(chunk, panel, s);
  }
  next.Finish();
  StoreOutputs<T>(args, task, chunk, out, out_stride);
}

template <class T>
void RunHead(const GatedDeltaRuleArgs& args, const HeadTask& task, std::byte* memory) {
  const int64_t k_dim = args.k.dim(2);
  const int64_t v_dim = args.v.dim(2);
  ScratchDivider divider(memory);
  const ChunkScratch scratch(divider, k_dim, v_dim);
  Chunk chunk = ChunkOf(k_dim, v_dim);
  float* pool = HeadState(args, task);
  LoadState(task.has_initial_state ? pool : nullptr, chunk, scratch.state_t);
  Stager<T>(args, task, task.first_token, 1, StagedRows<T>(chunk, scratch.staged)).Finish();
  for (int64_t first = task.first_token; first < task.last_token; first += kChunkSize) {
    chunk.first_token = first;
    chunk.num_tokens = static_cast<size_t>(std::min(kChunkSize, task.last_token - first));
    chunk.num_rows = RoundUp(chunk.num_tokens, kBlock);
    RunChunk<T>(args, task, chunk, scratch);
  }
  StoreState(scratch.state_t, chunk, pool);
}

void RunChunkTask(const GatedDeltaRuleArgs& args, const HeadTask& task, std::byte* memory) {
  DispatchFloat(args.v.dtype, [&](auto v) { RunHead<decltype(v)>(args, task, memory); });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {
namespace {

HWY_EXPORT(RunChunkTask);

}  // namespace

void RunChunkCpu(const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  ForEachHead(ctx, args, [&](const HeadTask& task, std::byte* memory) {
    HWY_DYNAMIC_DISPATCH(RunChunkTask)(args, task, memory);
  });
}

}  // namespace gdn
#endif  // HWY_ONCE
