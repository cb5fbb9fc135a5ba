// SPDX-License-Identifier: Apache-2.0
// chunk_fwd_h of README.md: a block takes 32 value rows of a head's state, in registers, through
// the chunks of its sequence that are in scratch. A chunk costs it w, k and its columns of u, in
// whose place it leaves v'; and it writes its rows of the state, rounded, for the output stage. The
// state itself is read and written once.
#include "ops/gated_delta_rule/chunk_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

constexpr uint32_t kThreads = gpu::kGdrStateThreads;
constexpr uint32_t kWarps = kThreads / kWarpSize;
constexpr uint32_t kRows = gpu::kGdrStateRows;
constexpr uint32_t kRowTiles = kRows / kTile;

// Key columns are in tiles, kKeyTiles of them: a warp has every kWarps-th, of all rows.
template <class T, uint32_t kKeyTiles>
struct StateOfAWarp {
  using P = Products<T>;
  static constexpr uint32_t kTiles = kKeyTiles / kWarps;
  static constexpr uint32_t kSnapshotPitch = kKeyTiles * kTile + 8;
  Tile s[kRowTiles][kTiles];

  static GDN_DEVICE uint32_t Column(uint32_t c, uint32_t e) {
    return (c * kWarps + WarpIndex()) * kTile + P::Column(e);
  }
  static GDN_DEVICE uint32_t Row(uint32_t r, uint32_t e) { return r * kTile + P::Row(e); }

  // visit(value, row, column) for each element.
  template <class Visit>
  GDN_DEVICE void ForEach(const Visit& visit) {
    GDN_UNROLL for (uint32_t r = 0; r < kRowTiles; ++r) {
      GDN_UNROLL for (uint32_t c = 0; c < kTiles; ++c) {
        GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
          visit(s[r][c].v[e], Row(r, e), Column(c, e));
        }
      }
    }
  }
};

// v' of all 64 tokens in the place of u, and decayed to the chunk's end, [row, token].
template <class T, uint32_t kKeyTiles>
GDN_DEVICE void NewValues(const GdrParams& p, uint32_t here, const Segment& chunk,
                          const SharedArray<T>& snapshot, const SharedArray<T>& tile,
                          const SharedArray<T>& decayed, const SharedArray<float>& cum) {
  using P = Products<T>;
  constexpr uint32_t kSnapshotPitch = StateOfAWarp<T, kKeyTiles>::kSnapshotPitch;
  constexpr uint32_t kTokenTiles = kChunk / kTile / kWarps;
  const uint32_t head = BlockY();
  const uint32_t first_row = BlockX() * kRows;
  const GlobalRows<T> w = {PartAt<T>(p, p.w, here, head, kChunk * p.k_dim), p.k_dim, kChunk,
                           p.k_dim};
  Tile sums[kTokenTiles][kRowTiles];
  GDN_UNROLL for (uint32_t i = 0; i < kTokenTiles * kRowTiles; ++i) {
    sums[i / kRowTiles][i % kRowTiles] = ZeroTile();
  }
  for (uint32_t first = 0; first < p.k_dim; first += kChunk) {
    FillRows<kChunk, kThreads>(tile, w, first, p.has_pairs != 0);
    Barrier();
    const uint32_t depth = p.k_dim - first < kChunk ? p.k_dim - first : kChunk;
    for (uint32_t m = 0; m < depth; m += kTile) {
      GDN_UNROLL for (uint32_t i = 0; i < kTokenTiles; ++i) {
        const uint32_t token = (i * kWarps + WarpIndex()) * kTile;
        const auto left = P::LoadLeft(SharedRows<T>{tile + (token * kPitch + m), kPitch});
        GDN_UNROLL for (uint32_t r = 0; r < kRowTiles; ++r) {
          const SharedRows<T> right = {snapshot + (r * kTile * kSnapshotPitch + first + m),
                                       kSnapshotPitch};
          P::Add(sums[i][r], left, P::LoadRight(right));
        }
      }
    }
    Barrier();
  }
  T* u = PartAt<T>(p, p.u, here, head, kChunk * p.v_dim);
  const float last = cum[chunk.count - 1];
  GDN_UNROLL for (uint32_t i = 0; i < kTokenTiles; ++i) {
    GDN_UNROLL for (uint32_t r = 0; r < kRowTiles; ++r) {
      GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
        const uint32_t token = (i * kWarps + WarpIndex()) * kTile + P::Row(e);
        const uint32_t row = r * kTile + P::Column(e);
        const bool is_row = first_row + row < p.v_dim;
        T* at = u + token * p.v_dim + first_row + row;
        const float value = is_row ? ToF32(*at) - sums[i][r].v[e] : 0.0F;
        decayed[row * kPitch + token] = FromF32<T>(value * Exp(last - cum[token]));
        if (is_row) *at = FromF32<T>(value);
      }
    }
  }
}

// s = s exp(cum at the end) + decayed k. The keys' tile is [column, token].
template <class T, uint32_t kKeyTiles>
GDN_DEVICE void Advance(const GdrParams& p, const Segment& chunk, StateOfAWarp<T, kKeyTiles>& state,
                        const SharedArray<T>& tile, const SharedArray<T>& decayed,
                        const SharedArray<float>& cum) {
  constexpr uint32_t kTilesOfAFill = kChunk / kTile / kWarps;
  const uint32_t key_head = BlockY() / p.heads_per_key;
  const GlobalRows<T> keys = {HeadAt<T>(p.k, chunk.first, key_head), p.k.stride, chunk.count,
                              p.k_dim};
  const float decay = Exp(cum[chunk.count - 1]);
  GDN_UNROLL for (uint32_t fill = 0; fill < kKeyTiles * kTile / kChunk; ++fill) {
    FillColumns<kChunk, kThreads>(
        tile, [&](uint32_t c, uint32_t m) { return keys.At(m, fill * kChunk + c); });
    Barrier();
    GDN_UNROLL for (uint32_t n = 0; n < kTilesOfAFill; ++n) {
      const uint32_t column = (n * kWarps + WarpIndex()) * kTile;
      GDN_UNROLL for (uint32_t r = 0; r < kRowTiles; ++r) {
        Tile added = ZeroTile();
        GDN_UNROLL for (uint32_t m = 0; m < kChunk; m += kTile) {
          MultiplyAdd<T>(added, SharedRows<T>{decayed + (r * kTile * kPitch + m), kPitch},
                         SharedRows<T>{tile + (column * kPitch + m), kPitch});
        }
        Tile& s = state.s[r][fill * kTilesOfAFill + n];
        GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
          s.v[e] = s.v[e] * decay + added.v[e];
        }
      }
    }
    Barrier();
  }
}

template <class T, uint32_t kKeyTiles>
GDN_GLOBAL(kThreads)
void GatedDeltaRuleState(GdrParams p) {
  using State = StateOfAWarp<T, kKeyTiles>;
  const uint32_t head = BlockY();
  const uint32_t sequence = BlockZ();
  const uint32_t first_row = BlockX() * kRows;
  SharedMemory shared;
  const auto snapshot = shared.Take<T>(kRows * State::kSnapshotPitch);
  const auto tile = shared.Take<T>(kChunk * kPitch);
  const auto decayed = shared.Take<T>(kRows * kPitch);
  const auto cum = shared.Take<float>(kChunk);

  uint32_t begin = 0;
  for (uint32_t n = 0; n < sequence; ++n) begin += CountSegments(p.sequences, n, kChunk);
  const uint32_t end = begin + CountSegments(p.sequences, sequence, kChunk);
  const uint32_t last_here = p.first_chunk + p.num_chunks;
  const uint32_t first = begin > p.first_chunk ? begin : p.first_chunk;
  const uint32_t last = end < last_here ? end : last_here;
  const int32_t slot = p.sequences.state_slots[sequence];
  if (first >= last || slot <= 0) return;
  float* memory = static_cast<float*>(p.state) + slot * p.slot_stride +
                  static_cast<int64_t>(head * p.v_dim + first_row) * p.k_dim;
  // Chunks of another launch have left the state in its slot.
  const bool has_state = first > begin || p.sequences.has_initial_state[sequence] != 0;
  const auto is_own = [&](uint32_t row, uint32_t column) {
    return first_row + row < p.v_dim && column < p.k_dim;
  };
  State state;
  state.ForEach([&](float& s, uint32_t row, uint32_t column) {
    s = has_state && is_own(row, column) ? memory[row * p.k_dim + column] : 0.0F;
  });
  for (uint32_t number = first; number < last; ++number) {
    const uint32_t here = number - p.first_chunk;
    const Segment chunk = SegmentAt(p.sequences, number, kChunk);
    if (ThreadIndex() < kChunk) {
      cum[ThreadIndex()] = PartAt<float>(p, p.cum, here, head, kChunk)[ThreadIndex()];
    }
    T* h = PartAt<T>(p, p.h, here, head, p.v_dim * p.k_dim) + first_row * p.k_dim;
    state.ForEach([&](float& s, uint32_t row, uint32_t column) {
      const T rounded = FromF32<T>(s);
      snapshot[row * State::kSnapshotPitch + column] = rounded;
      if (is_own(row, column)) h[row * p.k_dim + column] = rounded;
    });
    Barrier();
    NewValues<T, kKeyTiles>(p, here, chunk, snapshot, tile, decayed, cum);
    Advance<T, kKeyTiles>(p, chunk, state, tile, decayed, cum);
  }
  state.ForEach([&](float& s, uint32_t row, uint32_t column) {
    if (is_own(row, column)) memory[row * p.k_dim + column] = s;
  });
}

// For keys of up to 64, 128 and 256 elements.
#define GDN_STATE_INSTANCES(T)                                \
  GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleState<T, 4>),     \
      GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleState<T, 8>), \
      GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleState<T, 16>)

GDN_GPU_INSTANCES(gated_delta_rule_state) = {GDN_STATE_INSTANCES(float), GDN_STATE_INSTANCES(F16),
                                             GDN_STATE_INSTANCES(Bf16)};

}  // namespace gdn::GDN_GPU_NAMESPACE
