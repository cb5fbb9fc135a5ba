// SPDX-License-Identifier: Apache-2.0
// What of a chunk does not depend on the state, a block a chunk of a value head: the stages
// chunk_local_cumsum, chunk_scaled_dot_kkt, solve_tril and recompute_w_u of README.md. It reads 64
// rows of k and v and writes as many of w and u, and 64 floats.
#include "ops/gated_delta_rule/chunk_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

constexpr uint32_t kThreads = gpu::kGdrIntraThreads;
constexpr uint32_t kWarps = kThreads / kWarpSize;
constexpr uint32_t kTilesOfAWarp = (kLowerTiles + kWarps - 1) / kWarps;

// ---- A, strictly lower: (kkt(k_i beta_i) . k_j) exp(cum_i - cum_j) ----

// Where the blocks of A, those of T and those of products lie.
GDN_DEVICE uint32_t ABlock(uint32_t i, uint32_t j) { return (i * (i + 1) / 2 + j) * 256; }
GDN_DEVICE uint32_t TBlock(uint32_t i, uint32_t j) { return ABlock(i, j) + kLowerTiles * 256; }
GDN_DEVICE uint32_t ProductBlock(uint32_t j) { return (2 * kLowerTiles + j) * 256; }

template <class T>
GDN_DEVICE void MultiplyKeys(const GdrParams& p, const GlobalRows<T>& keys,
                             const SharedArray<float>& beta, const SharedArray<float>& k_beta,
                             const SharedArray<T>& k, Tile (&sums)[kTilesOfAWarp]) {
  for (uint32_t first = 0; first < p.k_dim; first += kChunk) {
    FillRows<kChunk, kThreads>(k, keys, first, p.has_pairs != 0);
    Barrier();
    for (uint32_t at = ThreadIndex(); at < kChunk * kChunk; at += kThreads) {
      const uint32_t i = at / kChunk;
      const uint32_t m = at % kChunk;
      const float product = ToF32(static_cast<T>(k[i * kPitch + m])) * beta[i];
      k_beta[i * kPitch + m] = p.is_tf32 != 0 ? TruncateToTf32(product) : product;
    }
    Barrier();
    const uint32_t depth = p.k_dim - first < kChunk ? p.k_dim - first : kChunk;
    GDN_UNROLL for (uint32_t n = 0; n < kTilesOfAWarp; ++n) {
      const uint32_t number = n * kWarps + WarpIndex();
      if (number >= kLowerTiles) continue;
      const uint32_t row = LowerRow(number) * kTile;
      const uint32_t column = LowerColumn(number) * kTile;
      for (uint32_t m = 0; m < depth; m += kTile) {
        const SharedRows<float> left = {k_beta + (row * kPitch + m), kPitch};
        const SharedRows<T> right = {k + (column * kPitch + m), kPitch};
        if (p.is_tf32 != 0) {
          Tf32Products<T>::Add(sums[n], left, right);
        } else {
          MultiplyAddF32<T>(sums[n], left, right);
        }
      }
    }
    Barrier();
  }
}

template <class T>
GDN_DEVICE void StoreA(const SharedArray<float>& cum, const Tile (&sums)[kTilesOfAWarp],
                       const SharedArray<float>& blocks) {
  GDN_UNROLL for (uint32_t n = 0; n < kTilesOfAWarp; ++n) {
    const uint32_t number = n * kWarps + WarpIndex();
    if (number >= kLowerTiles) continue;
    const uint32_t row = LowerRow(number);
    const uint32_t column = LowerColumn(number);
    GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
      const uint32_t i = row * kTile + Products<T>::Row(e);
      const uint32_t j = column * kTile + Products<T>::Column(e);
      const float element = i > j ? sums[n].v[e] * Exp(cum[i] - cum[j]) : 0.0F;
      blocks[ABlock(row, column) + i % kTile * kTile + j % kTile] = element;
    }
  }
  Barrier();
}

// ---- T = (I + A)^-1 by blocks, in f32 ----

// The thread's element of left right.
GDN_DEVICE float MultiplyBlocks(const SharedArray<float>& blocks, uint32_t left, uint32_t right) {
  const uint32_t row = left + ThreadIndex() / kTile * kTile;
  const uint32_t column = right + ThreadIndex() % kTile;
  float sum = 0;
  GDN_UNROLL for (uint32_t m = 0; m < kTile; ++m) {
    sum = Fma(blocks[row + m], blocks[column + m * kTile], sum);
  }
  return sum;
}

// Forward substitution in column c of diagonal block b. The identity is added last: the
// substitution must not see it.
GDN_DEVICE void InvertDiagonal(const SharedArray<float>& blocks, uint32_t b, uint32_t c) {
  const uint32_t from = ABlock(b, b);
  const uint32_t to = TBlock(b, b) + c;
  for (uint32_t i = 0; i < kTile; ++i) {
    float sum = 0;
    for (uint32_t m = 0; m < i; ++m) {
      sum = Fma(0.0F - blocks[from + i * kTile + m], blocks[to + m * kTile], sum);
    }
    const float minus_a = c < i ? 0.0F - blocks[from + i * kTile + c] : 0.0F;
    blocks[to + i * kTile] = minus_a + sum;
  }
  blocks[to + c * kTile] = 1.0F;
}

GDN_DEVICE void InvertOffDiagonals(const SharedArray<float>& blocks) {
  const uint32_t self = ThreadIndex();
  for (uint32_t distance = 1; distance < 4; ++distance) {
    for (uint32_t j = 0; j + distance < 4; ++j) {
      const uint32_t i = j + distance;
      float sum = 0;
      if (distance == 1) {
        sum = MultiplyBlocks(blocks, TBlock(i, i), ABlock(i, j));
      } else {
        for (uint32_t m = j; m < i; ++m) {
          sum += MultiplyBlocks(blocks, ABlock(i, m), TBlock(m, j));
        }
      }
      blocks[ProductBlock(j) + self] = sum;
    }
    Barrier();
    for (uint32_t j = 0; j + distance < 4; ++j) {
      const uint32_t i = j + distance;
      const float element = distance == 1 ? MultiplyBlocks(blocks, ProductBlock(j), TBlock(j, j))
                                          : MultiplyBlocks(blocks, TBlock(i, i), ProductBlock(j));
      blocks[TBlock(i, j) + self] = 0.0F - element;
    }
    Barrier();
  }
}

template <class T>
GDN_DEVICE void SolveTril(const SharedArray<float>& blocks, const SharedArray<T>& t) {
  if (ThreadIndex() < kChunk) InvertDiagonal(blocks, ThreadIndex() / kTile, ThreadIndex() % kTile);
  Barrier();
  InvertOffDiagonals(blocks);
  for (uint32_t at = ThreadIndex(); at < kChunk * kChunk; at += kThreads) {
    const uint32_t i = at / kChunk;
    const uint32_t j = at % kChunk;
    float element = 0;
    if (j <= i) element = blocks[TBlock(i / kTile, j / kTile) + i % kTile * kTile + j % kTile];
    t[i * kPitch + j] = FromF32<T>(element);
  }
  Barrier();
}

// ---- w = T (beta exp(cum) k), u = T (beta v) ----

// 64 columns of t times x, into to, rows of columns elements. x [column, m].
template <class T>
GDN_DEVICE void MultiplyByT(const SharedArray<T>& t, const SharedArray<T>& x, T* to,
                            uint32_t columns, uint32_t first) {
  using P = Products<T>;
  for (uint32_t number = WarpIndex(); number < 16; number += kWarps) {
    const uint32_t row = number / 4 * kTile;
    const uint32_t column = number % 4 * kTile;
    Tile sum = ZeroTile();
    for (uint32_t m = 0; m <= row; m += kTile) {  // T is lower
      MultiplyAdd<T>(sum, SharedRows<T>{t + (row * kPitch + m), kPitch},
                     SharedRows<T>{x + (column * kPitch + m), kPitch});
    }
    GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
      const uint32_t c = first + column + P::Column(e);
      if (c < columns) to[(row + P::Row(e)) * columns + c] = FromF32<T>(sum.v[e]);
    }
  }
}

template <class T>
GDN_GLOBAL_BLOCKS(kThreads, (sizeof(T) == 4 ? 1 : 3))
void GatedDeltaRuleIntra(GdrParams p) {
  const uint32_t head = BlockX();
  const uint32_t number = BlockY();
  const uint32_t self = ThreadIndex();
  const Segment chunk = SegmentAt(p.sequences, p.first_chunk + number, kChunk);
  SharedMemory shared;
  const auto cum = shared.Take<float>(kChunk);
  const auto beta = shared.Take<float>(kChunk);
  const auto decay = shared.Take<float>(kChunk);
  const auto t = shared.Take<T>(kChunk * kPitch);
  // One after another in the same bytes.
  SharedMemory of_products = shared;
  const auto k_beta = of_products.Take<float>(kChunk * kPitch);
  const auto k = of_products.Take<T>(kChunk * kPitch);
  SharedMemory of_blocks = shared;
  const auto blocks = of_blocks.Take<float>(gpu::kGdrSolveFloats);
  SharedMemory of_columns = shared;
  const auto x = of_columns.Take<T>(kChunk * kPitch);

  CumulateLogDecay(p, chunk, head, cum);
  if (self < kChunk) {
    beta[self] = self < chunk.count ? RowAt<float>(p.beta, chunk.first + self)[head] : 0.0F;
    decay[self] = Exp(cum[self]);
    PartAt<float>(p, p.cum, number, head, kChunk)[self] = cum[self];
  }
  Barrier();
  const GlobalRows<T> keys = {HeadAt<T>(p.k, chunk.first, head / p.heads_per_key), p.k.stride,
                              chunk.count, p.k_dim};
  Tile sums[kTilesOfAWarp];
  GDN_UNROLL for (uint32_t n = 0; n < kTilesOfAWarp; ++n) sums[n] = ZeroTile();
  MultiplyKeys<T>(p, keys, beta, k_beta, k, sums);
  StoreA<T>(cum, sums, blocks);
  SolveTril<T>(blocks, t);

  for (uint32_t first = 0; first < p.k_dim; first += kChunk) {
    FillColumns<kChunk, kThreads>(x, [&](uint32_t c, uint32_t m) {
      return FromF32<T>(ToF32(keys.At(m, first + c)) * beta[m] * decay[m]);
    });
    Barrier();
    MultiplyByT<T>(t, x, PartAt<T>(p, p.w, number, head, kChunk * p.k_dim), p.k_dim, first);
    Barrier();
  }
  const GlobalRows<T> values = {HeadAt<T>(p.v, chunk.first, head), p.v.stride, chunk.count,
                                p.v_dim};
  for (uint32_t first = 0; first < p.v_dim; first += kChunk) {
    FillColumns<kChunk, kThreads>(x, [&](uint32_t c, uint32_t m) {
      return FromF32<T>(ToF32(values.At(m, first + c)) * beta[m]);
    });
    Barrier();
    MultiplyByT<T>(t, x, PartAt<T>(p, p.u, number, head, kChunk * p.v_dim), p.v_dim, first);
    Barrier();
  }
}

GDN_GPU_INSTANCES(gated_delta_rule_intra) = {
    GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleIntra<float>),
    GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleIntra<F16>),
    GDN_GPU_INSTANCE(GdrParams, GatedDeltaRuleIntra<Bf16>)};

}  // namespace gdn::GDN_GPU_NAMESPACE
