// SPDX-License-Identifier: Apache-2.0
// The Highway kernels behind gated_delta_rule.h and their scratch memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "backend/exec_context.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"

namespace gdn {

// args have been validated; ctx.scratch holds GatedDeltaRuleScratchBytes for ctx.pool.
void RunRecurrentCpu(const ExecContext& ctx, const GatedDeltaRuleArgs& args);
void RunBlockedCpu(const ExecContext& ctx, const GatedDeltaRuleArgs& args);
void RunChunkCpu(const ExecContext& ctx, const GatedDeltaRuleArgs& args);

// Rows of scratch matrices are padded to this many columns: whole tiles for vectors of up to 32
// lanes.
inline constexpr int64_t kScratchColumns = 64;
constexpr int64_t PaddedColumns(int64_t columns) {
  return (columns + kScratchColumns - 1) / kScratchColumns * kScratchColumns;
}

// Strides of rows of K and of C columns: an odd number of cache lines, since a power of two of them
// would put a column of tiles into a few sets of the L1.
constexpr int64_t KeyStride(int64_t k_dim) { return PaddedColumns(k_dim) + 16; }
inline constexpr int64_t kTransposedStride = kChunkSize + 16;

// Value rows of a state that one task of the recurrent kernel owns: with K = 128 they are 16 KiB,
// half an L1, and a model of 16 heads still gives 64 tasks a sequence.
inline constexpr int64_t kRecurrentRows = 32;

// Divides one worker's bytes; from a null base it only counts them.
class ScratchDivider {
 public:
  explicit ScratchDivider(std::byte* base) : base_(base) {}
  float* Floats(int64_t count) {
    const size_t at = bytes_;
    bytes_ += (static_cast<size_t>(count) * sizeof(float) + 63) / 64 * 64;
    return base_ == nullptr ? nullptr : reinterpret_cast<float*>(base_ + at);
  }
  size_t bytes() const { return bytes_; }

 private:
  std::byte* base_;
  size_t bytes_ = 0;
};

struct RecurrentScratch {
  float* q;      // [Kp] times scale
  float* k;      // [Kp]
  float* state;  // [kRecurrentRows, Kp] a slice that cannot be worked on in place

  RecurrentScratch(ScratchDivider& divider, int64_t k_dim)
      : q(divider.Floats(PaddedColumns(k_dim))),
        k(divider.Floats(PaddedColumns(k_dim))),
        state(divider.Floats(kRecurrentRows * PaddedColumns(k_dim))) {}
};

// What a block of the recurrence needs besides its rows: P_t, the decay from the block's start to
// token t; D_ti, from token i to token t.
struct BlockGates {
  std::array<float, kRuleBlock> decay;  // P_t
  std::array<float, kRuleBlock> tail;   // D_ni, n the block's last token
  std::array<float, kRuleBlock> beta;
  std::array<float, kRuleBlock * kRuleBlock> keys;     // [t, i]: D_ti k_i . k_t, i < t
  std::array<float, kRuleBlock * kRuleBlock> queries;  // [t, i]: D_ti k_i . q_t, i <= t
};

// C = kChunkSize rows, whose blocks are worked on panel by panel.
struct BlockedScratch {
  float* staged;      // as in ChunkScratch
  float* rows;        // [C / kRuleBlock, 2 kRuleBlock, Ks]: keys, then queries times scale
  BlockGates* gates;  // [C / kRuleBlock]
  float* state_t;     // as in ChunkScratch
  float* values;      // [Vp / W] panels of [C, W]: v, then o
  float* read;        // [2 kRuleBlock, W] rows times the panel's state

  BlockedScratch(ScratchDivider& divider, int64_t k_dim, int64_t v_dim)
      : staged(divider.Floats(kChunkSize * (2 * k_dim + v_dim))),
        rows(divider.Floats(kChunkSize * 2 * KeyStride(k_dim))),
        gates(reinterpret_cast<BlockGates*>(divider.Floats(
            kChunkSize / kRuleBlock * static_cast<int64_t>(sizeof(BlockGates) / sizeof(float))))),
        state_t(divider.Floats(PaddedColumns(k_dim) * PaddedColumns(v_dim))),
        values(divider.Floats(kChunkSize * PaddedColumns(v_dim))),
        read(divider.Floats(2 * kRuleBlock * kScratchColumns)) {}
};

// Kp, Vp: K and V padded, Ks = KeyStride; C = kChunkSize rows, one a token. Rows of tokens past the
// chunk's end are zero up to the next tile.
struct ChunkScratch {
  float* staged;     // [C, K], [C, K], [C, V] of D: rows of q, k and v of the chunk to come
  float* q;          // [C, Ks]
  float* k;          // [C, Ks]
  float* k_t;        // [Kp, kTransposedStride]
  float* k_beta;     // [C, Ks] the operand of k k^T, then k * beta * exp(cum)
  float* w;          // [C, Ks]
  float* decay;      // [C, C] exp(cum_i - cum_j) for i >= j, else 0
  float* a;          // [C, C]
  float* a_inverse;  // [C, C]
  float* p;          // [C, C]
  float* state_t;    // [Vp / W] panels of [K, W]: the state, transposed; W columns are one tile
  float* snapshot;   // [K, W] a panel rounded to D
  float* v_beta;     // [Vp / W] panels of [C, W] and a gap, ValuePanelStride apart
  float* out;        // [C, Vp] of D: rows of o, until they are whole
  float* v_new;      // [C, W] and so on
  float* v_decayed;
  float* read;
  float* cum;       // [C] cumulative log decay
  float* cum_exp;   // [C] its exp
  float* tail_exp;  // [C] exp(cum_last - cum)
  float* beta;      // [C]

  ChunkScratch(ScratchDivider& divider, int64_t k_dim, int64_t v_dim)
      : staged(divider.Floats(kChunkSize * (2 * k_dim + v_dim))),
        q(divider.Floats(kChunkSize * KeyStride(k_dim))),
        k(divider.Floats(kChunkSize * KeyStride(k_dim))),
        k_t(divider.Floats(PaddedColumns(k_dim) * kTransposedStride)),
        k_beta(divider.Floats(kChunkSize * KeyStride(k_dim))),
        w(divider.Floats(kChunkSize * KeyStride(k_dim))),
        decay(divider.Floats(kChunkSize * kChunkSize)),
        a(divider.Floats(kChunkSize * kChunkSize)),
        a_inverse(divider.Floats(kChunkSize * kChunkSize)),
        p(divider.Floats(kChunkSize * kChunkSize)),
        state_t(divider.Floats(PaddedColumns(k_dim) * PaddedColumns(v_dim))),
        snapshot(divider.Floats(PaddedColumns(k_dim) * kScratchColumns)),
        v_beta(divider.Floats((kChunkSize + 1) * PaddedColumns(v_dim))),
        out(divider.Floats(kChunkSize * PaddedColumns(v_dim))),
        v_new(divider.Floats(kChunkSize * kScratchColumns)),
        v_decayed(divider.Floats(kChunkSize * kScratchColumns)),
        read(divider.Floats(kChunkSize * kScratchColumns)),
        cum(divider.Floats(kChunkSize)),
        cum_exp(divider.Floats(kChunkSize)),
        tail_exp(divider.Floats(kChunkSize)),
        beta(divider.Floats(kChunkSize)) {}
};

// Bytes that one worker of any form needs, a multiple of 64.
inline size_t WorkerScratchBytes(int64_t k_dim, int64_t v_dim) {
  ScratchDivider recurrent(nullptr);
  const RecurrentScratch recurrent_scratch(recurrent, k_dim);
  ScratchDivider chunk(nullptr);
  const ChunkScratch chunk_scratch(chunk, k_dim, v_dim);
  ScratchDivider blocked(nullptr);
  const BlockedScratch blocked_scratch(blocked, k_dim, v_dim);
  return std::max({recurrent.bytes(), blocked.bytes(), chunk.bytes()});
}

}  // namespace gdn
