// SPDX-License-Identifier: Apache-2.0
// chunk_fwd_o of README.md: o = scale (exp(cum) q S^T + P v'), P = the lower part of q k^T with
// decays. A block takes up to 128 value columns of a chunk of a value head: it reads q, k, its rows
// of the state and its columns of v', and writes as many of out. Rows of null slots become 0.
#include "ops/gated_delta_rule/chunk_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

constexpr uint32_t kThreads = gpu::kGdrOutputThreads;
constexpr uint32_t kWarps = kThreads / kWarpSize;
constexpr uint32_t kTilesOfAWarp = (kLowerTiles + kWarps - 1) / kWarps;

template <class T>
struct Output {
  using P = Products<T>;
  static constexpr uint32_t kColumns = gpu::GdrOutputColumns(sizeof(T));
  static constexpr uint32_t kTiles = kChunk / kTile * kColumns / kTile / kWarps;
  Tile reads[kTiles];   // q S^T
  Tile values[kTiles];  // P v'

  // A warp has tiles of one row of tiles, side by side.
  static GDN_DEVICE uint32_t FirstRow(uint32_t n) {
    return (WarpIndex() * kTiles + n) / (kColumns / kTile) * kTile;
  }
  static GDN_DEVICE uint32_t FirstColumn(uint32_t n) {
    return (WarpIndex() * kTiles + n) % (kColumns / kTile) * kTile;
  }
};

template <class T>
GDN_DEVICE void StoreP(const SharedArray<float>& cum, const Tile (&sums)[kTilesOfAWarp],
                       const SharedArray<T>& scores) {
  GDN_UNROLL for (uint32_t n = 0; n < kTilesOfAWarp; ++n) {
    const uint32_t number = n * kWarps + WarpIndex();
    if (number >= kLowerTiles) continue;
    GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
      const uint32_t i = LowerRow(number) * kTile + Products<T>::Row(e);
      const uint32_t j = LowerColumn(number) * kTile + Products<T>::Column(e);
      const float element = i >= j ? sums[n].v[e] * Exp(cum[i] - cum[j]) : 0.0F;
      scores[i * kPitch + j] = FromF32<T>(element);
    }
  }
}

// The products of q, 64 of its columns at a time.
template <class T>
GDN_DEVICE void MultiplyQueries(const GdrParams& p, const GlobalRows<T>& queries,
                                const GlobalRows<T>& keys, const GlobalRows<T>& states,
                                const SharedArray<T>& q, const SharedArray<T>& other,
                                Tile (&scores)[kTilesOfAWarp], Output<T>& out) {
  for (uint32_t first = 0; first < p.k_dim; first += kChunk) {
    const uint32_t depth = p.k_dim - first < kChunk ? p.k_dim - first : kChunk;
    FillRows<kChunk, kThreads>(q, queries, first, p.has_pairs != 0);
    FillRows<kChunk, kThreads>(other, keys, first, p.has_pairs != 0);
    Barrier();
    GDN_UNROLL for (uint32_t n = 0; n < kTilesOfAWarp; ++n) {
      const uint32_t number = n * kWarps + WarpIndex();
      if (number >= kLowerTiles) continue;
      const uint32_t row = LowerRow(number) * kTile * kPitch;
      const uint32_t column = LowerColumn(number) * kTile * kPitch;
      for (uint32_t m = 0; m < depth; m += kTile) {
        MultiplyAdd<T>(scores[n], SharedRows<T>{q + (row + m), kPitch},
                       SharedRows<T>{other + (column + m), kPitch});
      }
    }
    Barrier();
    FillRows<Output<T>::kColumns, kThreads>(other, states, first, p.has_pairs != 0);
    Barrier();
    for (uint32_t m = 0; m < depth; m += kTile) {
      GDN_UNROLL for (uint32_t n = 0; n < Output<T>::kTiles; ++n) {
        MultiplyAdd<T>(out.reads[n],
                       SharedRows<T>{q + (Output<T>::FirstRow(n) * kPitch + m), kPitch},
                       SharedRows<T>{other + (Output<T>::FirstColumn(n) * kPitch + m), kPitch});
      }
    }
    Barrier();
  }
}

template <class T>
GDN_DEVICE void MultiplyValues(const SharedArray<T>& scores, const SharedArray<T>& values,
                               Output<T>& out) {
  GDN_UNROLL for (uint32_t n = 0; n < Output<T>::kTiles; ++n) {
    const uint32_t row = Output<T>::FirstRow(n);
    for (uint32_t m = 0; m <= row; m += kTile) {  // P is lower
      MultiplyAdd<T>(out.values[n], SharedRows<T>{scores + (row * kPitch + m), kPitch},
                     SharedRows<T>{values + (Output<T>::FirstColumn(n) * kPitch + m), kPitch});
    }
  }
}

template <class T>
GDN_GLOBAL_BLOCKS(kThreads, (sizeof(T) == 4 ? 1 : 2))
void GatedDeltaRuleOutput(GdrParams p) {
  using P = Products<T>;
  constexpr uint32_t kColumns = Output<T>::kColumns;
  const uint32_t head = BlockX();
  const uint32_t number = BlockY();
  const uint32_t first_column = BlockZ() * kColumns;
  const Segment chunk = SegmentAt(p.sequences, p.first_chunk + number, kChunk);
  const bool is_null = p.sequences.state_slots[chunk.sequence] <= 0;
  SharedMemory shared;
  const auto q = shared.Take<T>(kChunk * kPitch);
  const auto scores = shared.Take<T>(kChunk * kPitch);
  const auto other = shared.Take<T>((kColumns > kChunk ? kColumns : kChunk) * kPitch);
  const auto cum = shared.Take<float>(kChunk);
  if (ThreadIndex() < kChunk) {
    cum[ThreadIndex()] = PartAt<float>(p, p.cum, number, head, kChunk)[ThreadIndex()];
  }
  Tile sums[kTilesOfAWarp];
  Output<T> out;
  GDN_UNROLL for (uint32_t n = 0; n < kTilesOfAWarp; ++n) sums[n] = ZeroTile();
  GDN_UNROLL for (uint32_t n = 0; n < Output<T>::kTiles; ++n) {
    out.reads[n] = ZeroTile();
    out.values[n] = ZeroTile();
  }
  if (!is_null) {
    const uint32_t key_head = head / p.heads_per_key;
    const GlobalRows<T> queries = {HeadAt<T>(p.q, chunk.first, key_head), p.q.stride, chunk.count,
                                   p.k_dim};
    const GlobalRows<T> keys = {HeadAt<T>(p.k, chunk.first, key_head), p.k.stride, chunk.count,
                                p.k_dim};
    const GlobalRows<T> states = {
        PartAt<T>(p, p.h, number, head, p.v_dim * p.k_dim) + first_column * p.k_dim, p.k_dim,
        p.v_dim - first_column, p.k_dim};
    MultiplyQueries<T>(p, queries, keys, states, q, other, sums, out);
    StoreP<T>(cum, sums, scores);
    const T* u = PartAt<T>(p, p.u, number, head, kChunk * p.v_dim);
    FillColumns<kColumns, kThreads>(other, [&](uint32_t c, uint32_t m) {
      const bool is_there = m < chunk.count && first_column + c < p.v_dim;
      return is_there ? u[m * p.v_dim + first_column + c] : FromF32<T>(0);
    });
    Barrier();
    MultiplyValues<T>(scores, other, out);
  } else {
    Barrier();
  }
  T* rows = static_cast<T*>(p.out);
  GDN_UNROLL for (uint32_t n = 0; n < Output<T>::kTiles; ++n) {
    GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
      const uint32_t i = Output<T>::FirstRow(n) + P::Row(e);
      const uint32_t column = first_column + Output<T>::FirstColumn(n) + P::Column(e);
      if (i >= chunk.count || column >= p.v_dim) continue;
      const float o = out.reads[n].v[e] * Exp(cum[i]) * p.scale + out.values[n].v[e] * p.scale;
      const uint64_t row = static_cast<uint64_t>(chunk.first + i) * p.num_value_heads + head;
      rows[row * p.v_dim + column] = FromF32<T>(is_null ? 0.0F : o);
    }
  }
}

GDN_GPU_INSTANCES(gated_delta_rule_output) = {
    GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleOutput<float>),
    GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleOutput<F16>),
    GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleOutput<Bf16>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
