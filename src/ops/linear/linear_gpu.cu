// SPDX-License-Identifier: Apache-2.0
// Linear layers on tensor cores, in two forms of the same bits. k is cut into at most 8 slices of
// slice_k, which K alone decides; a slice is summed 16 k at a time with k ascending, in one
// accumulator; the slices are added in order, from 0. So an output does not depend on M.
//
// Few rows: a block has 16 rows and the 32 outputs of a panel, and a warp a slice; weights go from
// memory into registers, once. Many rows: a block has 128 rows and 64 outputs (gated: 32 of the
// gate and the same 32 of up), 32 k of both in shared memory at a time. Bytes: the weights once for
// 16 or 128 rows, x once a block of outputs (from a cache), the outputs.
#include "ops/common/gpu_rows.h"
#include "ops/common/gpu_tile.h"
#include "ops/linear/linear_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::LinearParams;
using gpu::LinearOut;

constexpr uint32_t kThreads = 256;
constexpr uint32_t kWarps = kThreads / kWarpSize;
constexpr uint32_t kPanel = gpu::kLinearPanel;

GDN_DEVICE uint32_t Min(uint32_t a, uint32_t b) { return a < b ? a : b; }

// The bits of elements m and m + 1 of 16 bits.
template <class T>
GDN_DEVICE uint32_t PairOf(const T* elements, bool has_second) {
  return elements[0].bits | (has_second ? static_cast<uint32_t>(elements[1].bits) << 16 : 0U);
}

// Rows of x from first_row on, columns from first_k on; 0 behind the last column, some row behind
// the last one.
template <class T>
struct InputRows {
  const Params& p;
  uint32_t first_row;
  uint32_t first_k;

  GDN_DEVICE uint32_t Pair(uint32_t i, uint32_t m) const {
    const uint32_t k = first_k + m;
    if (k >= p.num_inputs) return 0;
    const T* row = RowAt<T>(p.x, Min(first_row + i, p.num_rows - 1));
    if (p.x_has_pairs != 0 && k + 1 < p.num_inputs)
      return *reinterpret_cast<const uint32_t*>(row + k);
    return PairOf(row + k, k + 1 < p.num_inputs);
  }
  GDN_DEVICE float Element(uint32_t i, uint32_t m) const {
    const uint32_t k = first_k + m;
    return k < p.num_inputs ? ToF32(RowAt<T>(p.x, Min(first_row + i, p.num_rows - 1))[k]) : 0.0F;
  }
};

// Rows n of a weight from first_n on, columns from first_k on; 0 behind the last column.
template <class T>
struct WeightRows {
  const Params& p;
  const void* weight;
  uint32_t first_n;
  uint32_t first_k;

  GDN_DEVICE const uint32_t* PanelDword(uint32_t n, uint32_t k) const {
    constexpr uint32_t kPerDword = 4 / sizeof(T);
    const uint64_t panel_dwords =
        static_cast<uint64_t>((p.num_inputs + kPerDword - 1) / kPerDword) * kPanel;
    return static_cast<const uint32_t*>(weight) + n / kPanel * panel_dwords +
           k / kPerDword * kPanel + n % kPanel;
  }
  GDN_DEVICE const T* RowElement(uint32_t n, uint32_t k) const {
    return static_cast<const T*>(weight) +
           static_cast<uint64_t>(Min(n, p.num_outputs - 1)) * p.num_inputs + k;
  }
  GDN_DEVICE uint32_t Pair(uint32_t j, uint32_t m) const {
    const uint32_t k = first_k + m;
    if (k >= p.num_inputs) return 0;
    if (p.is_row_major != 0) return PairOf(RowElement(first_n + j, k), k + 1 < p.num_inputs);
    return *PanelDword(first_n + j, k);
  }
  GDN_DEVICE float Element(uint32_t j, uint32_t m) const {
    const uint32_t k = first_k + m;
    if (k >= p.num_inputs) return 0;
    if (p.is_row_major != 0) return ToF32(*RowElement(first_n + j, k));
    const uint32_t dword = *PanelDword(first_n + j, k);
    if constexpr (sizeof(T) == 4) {
      return FloatOf(dword);
    } else {
      return FromHalf<T>(dword, k % 2);
    }
  }
};

template <class T>
GDN_DEVICE void Store(const Params& p, uint32_t row, uint32_t n, float value) {
  if (row >= p.num_rows || n >= p.num_outputs) return;
  if (p.form == LinearOut::kElements) {
    RowAt<T>(p.out, row)[n] = FromF32<T>(value);
  } else {
    RowAt<float>(p.out, row)[n] = p.form == LinearOut::kF32 ? value : Round<T>(value);
  }
}

template <class T>
GDN_DEVICE float SiluAndMul(float gate, float up) {
  return Round<T>(Silu(Round<T>(gate))) * Round<T>(up);
}

// ---- Few rows ----

// Where an element of the product of a slice lies in shared memory; column in [0, 32), or in [0,
// 64) with those of up behind those of the gate.
GDN_DEVICE uint32_t PartialAt(uint32_t slice, uint32_t row, uint32_t column, uint32_t columns) {
  return (slice * gpu::kLinearFewRows + row) * columns + column;
}

template <class T, bool kIsGated>
GDN_DEVICE void MultiplySlice(const Params& p, uint32_t slice, const SharedArray<float>& partial) {
  using P = Products<T>;
  constexpr uint32_t kTiles = kIsGated ? 4 : 2;
  const uint32_t first_n = BlockX() * kPanel;
  const uint32_t first_row = BlockY() * gpu::kLinearFewRows;
  const uint32_t end = Min((slice + 1) * p.slice_k, p.num_inputs);
  Tile sums[kTiles];
  GDN_UNROLL for (uint32_t c = 0; c < kTiles; ++c) sums[c] = ZeroTile();
  for (uint32_t k = slice * p.slice_k; k < end; k += kTile) {
    const auto left = P::LoadLeft(InputRows<T>{p, first_row, k});
    GDN_UNROLL for (uint32_t c = 0; c < kTiles; ++c) {
      const WeightRows<T> rows = {p, c < 2 ? p.weight : p.up, first_n + c % 2 * kTile, k};
      P::Add(sums[c], left, P::LoadRight(rows));
    }
  }
  GDN_UNROLL for (uint32_t c = 0; c < kTiles; ++c) {
    GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
      partial[PartialAt(slice, P::Row(e), c * kTile + P::Column(e), kTiles * kTile)] = sums[c].v[e];
    }
  }
}

template <class T, bool kIsGated>
GDN_GLOBAL(kThreads)
void LinearFewRows(Params p) {
  constexpr uint32_t kColumns = kIsGated ? 2 * kPanel : kPanel;
  SharedMemory shared;
  const auto partial = shared.Take<float>(gpu::kLinearMaxSlices * gpu::kLinearFewRows * kColumns);
  const uint32_t num_slices = (p.num_inputs + p.slice_k - 1) / p.slice_k;
  for (uint32_t slice = WarpIndex(); slice < num_slices; slice += kWarps) {
    MultiplySlice<T, kIsGated>(p, slice, partial);
  }
  Barrier();
  for (uint32_t i = ThreadIndex(); i < gpu::kLinearFewRows * kPanel; i += kThreads) {
    const uint32_t row = i / kPanel;
    const uint32_t column = i % kPanel;
    float total = 0;
    float up = 0;
    for (uint32_t s = 0; s < num_slices; ++s) {
      total += partial[PartialAt(s, row, column, kColumns)];
      if constexpr (kIsGated) up += partial[PartialAt(s, row, kPanel + column, kColumns)];
    }
    Store<T>(p, BlockY() * gpu::kLinearFewRows + row, BlockX() * kPanel + column,
             kIsGated ? SiluAndMul<T>(total, up) : total);
  }
}

// ---- Many rows ----

constexpr uint32_t kColumnWarps = 2;  // warps side by side, each with two tiles of columns
constexpr uint32_t kRowWarps = kWarps / kColumnWarps;
constexpr uint32_t kRowTiles = gpu::kLinearTileRows / kTile / kRowWarps;

// A tile of weights as in a panel: a dword is two k (16 bits) or one of an output.
template <class T>
struct SharedPanel {
  SharedArray<uint32_t> dwords;

  GDN_DEVICE uint32_t Pair(uint32_t j, uint32_t m) const {
    return dwords[m / 2 * gpu::kLinearWeightPitch + j];
  }
  GDN_DEVICE float Element(uint32_t j, uint32_t m) const {
    if constexpr (sizeof(T) == 4) {
      return FloatOf(dwords[m * gpu::kLinearWeightPitch + j]);
    } else {
      return FromHalf<T>(dwords[m / 2 * gpu::kLinearWeightPitch + j], m % 2);
    }
  }
};

// What a thread brings of the next tiles: dwords of x and of the weights.
template <class T>
struct NextTiles {
  static constexpr uint32_t kPerDword = 4 / sizeof(T);
  static constexpr uint32_t kDepth = gpu::kLinearTileK / kPerDword;  // dwords of a row
  static constexpr uint32_t kInputs = gpu::kLinearTileRows * kDepth / kThreads;
  static constexpr uint32_t kWeights = kDepth * gpu::kLinearTileColumns / kThreads;
  uint32_t inputs[kInputs];
  uint32_t weights[kWeights];

  template <class Source>
  static GDN_DEVICE uint32_t DwordOf(const Source& source, uint32_t i, uint32_t dword) {
    if constexpr (sizeof(T) == 4) {
      return BitsOf(source.Element(i, dword));
    } else {
      return source.Pair(i, 2 * dword);
    }
  }
  GDN_DEVICE void Load(const Params& p, uint32_t first_k) {
    const InputRows<T> rows = {p, BlockY() * gpu::kLinearTileRows, first_k};
    GDN_UNROLL for (uint32_t i = 0; i < kInputs; ++i) {
      const uint32_t at = i * kThreads + ThreadIndex();
      inputs[i] = DwordOf(rows, at / kDepth, at % kDepth);
    }
    GDN_UNROLL for (uint32_t i = 0; i < kWeights; ++i) {
      const uint32_t at = i * kThreads + ThreadIndex();
      const uint32_t column = at % gpu::kLinearTileColumns;
      const uint32_t panel = p.up == nullptr ? BlockX() * 2 + column / kPanel : BlockX();
      const void* weight = p.up != nullptr && column >= kPanel ? p.up : p.weight;
      const WeightRows<T> source = {p, weight, panel * kPanel, first_k};
      const bool is_there = panel * kPanel < p.num_outputs;
      weights[i] = is_there ? DwordOf(source, column % kPanel, at / gpu::kLinearTileColumns) : 0U;
    }
  }
  GDN_DEVICE void Store(const SharedArray<uint32_t>& x, const SharedArray<uint32_t>& w) const {
    GDN_UNROLL for (uint32_t i = 0; i < kInputs; ++i) {
      const uint32_t at = i * kThreads + ThreadIndex();
      x[at / kDepth * (gpu::kLinearInputPitch / kPerDword) + at % kDepth] = inputs[i];
    }
    GDN_UNROLL for (uint32_t i = 0; i < kWeights; ++i) {
      const uint32_t at = i * kThreads + ThreadIndex();
      w[at / gpu::kLinearTileColumns * gpu::kLinearWeightPitch + at % gpu::kLinearTileColumns] =
          weights[i];
    }
  }
};

// A tile of x, dwords as NextTiles leaves them.
template <class T>
struct SharedInputs {
  SharedArray<uint32_t> dwords;
  uint32_t first_row;

  GDN_DEVICE uint32_t Pair(uint32_t i, uint32_t m) const {
    return dwords[(first_row + i) * (gpu::kLinearInputPitch / 2) + m / 2];
  }
  GDN_DEVICE float Element(uint32_t i, uint32_t m) const {
    if constexpr (sizeof(T) == 4) {
      return FloatOf(dwords[(first_row + i) * gpu::kLinearInputPitch + m]);
    } else {
      return FromHalf<T>(Pair(i, m / 2 * 2), m % 2);
    }
  }
};

template <class T>
GDN_DEVICE void MultiplyTiles(const SharedArray<uint32_t>& x, const SharedArray<uint32_t>& w,
                              Tile (&sums)[kRowTiles][2]) {
  using P = Products<T>;
  constexpr uint32_t kPerDword = 4 / sizeof(T);
  const uint32_t first_row = WarpIndex() / kColumnWarps * kRowTiles * kTile;
  const uint32_t first_column = WarpIndex() % kColumnWarps * 2 * kTile;
  GDN_UNROLL for (uint32_t k = 0; k < gpu::kLinearTileK; k += kTile) {
    const SharedArray<uint32_t> weights =
        w + (k / kPerDword * gpu::kLinearWeightPitch + first_column);
    const auto right0 = P::LoadRight(SharedPanel<T>{weights});
    const auto right1 = P::LoadRight(SharedPanel<T>{weights + kTile});
    GDN_UNROLL for (uint32_t r = 0; r < kRowTiles; ++r) {
      const auto left = P::LoadLeft(SharedInputs<T>{x + k / kPerDword, first_row + r * kTile});
      P::Add(sums[r][0], left, right0);
      P::Add(sums[r][1], left, right1);
    }
  }
}

template <class T, bool kIsGated>
GDN_DEVICE void StoreTiles(const Params& p, const Tile (&totals)[kRowTiles][2],
                           const SharedArray<float>& up) {
  using P = Products<T>;
  const uint32_t first_row = WarpIndex() / kColumnWarps * kRowTiles * kTile;
  const uint32_t side = WarpIndex() % kColumnWarps;
  const uint32_t first_n =
      kIsGated ? BlockX() * kPanel : BlockX() * gpu::kLinearTileColumns + side * kPanel;
  // The warps on the right have up, those on the left the gate of the same outputs.
  if constexpr (kIsGated) {
    Barrier();
    GDN_UNROLL for (uint32_t i = 0; i < kRowTiles * 2 * kTileElements; ++i) {
      const uint32_t e = i % kTileElements;
      const uint32_t r = i / kTileElements / 2;
      const uint32_t c = i / kTileElements % 2;
      const uint32_t row = first_row + r * kTile + P::Row(e);
      if (side == 1) up[row * kPanel + c * kTile + P::Column(e)] = totals[r][c].v[e];
    }
    Barrier();
    if (side == 1) return;
  }
  GDN_UNROLL for (uint32_t i = 0; i < kRowTiles * 2 * kTileElements; ++i) {
    const uint32_t e = i % kTileElements;
    const uint32_t r = i / kTileElements / 2;
    const uint32_t c = i / kTileElements % 2;
    const uint32_t row = first_row + r * kTile + P::Row(e);
    const uint32_t column = c * kTile + P::Column(e);
    float value = totals[r][c].v[e];
    if constexpr (kIsGated) value = SiluAndMul<T>(value, up[row * kPanel + column]);
    Store<T>(p, BlockY() * gpu::kLinearTileRows + row, first_n + column, value);
  }
}

template <class T, bool kIsGated>
GDN_GLOBAL(kThreads)
void LinearTiles(Params p) {
  constexpr uint32_t kPerDword = 4 / sizeof(T);
  SharedMemory shared;
  const auto x = shared.Take<uint32_t>(gpu::kLinearTileRows * gpu::kLinearInputPitch / kPerDword);
  const auto w = shared.Take<uint32_t>(gpu::kLinearTileK / kPerDword * gpu::kLinearWeightPitch);
  // Only after the last product.
  const auto up = shared.Take<float>(kIsGated ? gpu::kLinearTileRows * kPanel : 0);
  Tile sums[kRowTiles][2];
  Tile totals[kRowTiles][2];
  GDN_UNROLL for (uint32_t i = 0; i < kRowTiles * 2; ++i) {
    sums[i / 2][i % 2] = ZeroTile();
    totals[i / 2][i % 2] = ZeroTile();
  }
  NextTiles<T> next;
  next.Load(p, 0);
  for (uint32_t k = 0; k < p.num_inputs;) {
    Barrier();
    next.Store(x, w);
    Barrier();
    k += gpu::kLinearTileK;
    if (k < p.num_inputs) next.Load(p, k);
    MultiplyTiles<T>(x, w, sums);
    if (k % p.slice_k != 0 && k < p.num_inputs) continue;
    GDN_UNROLL for (uint32_t i = 0; i < kRowTiles * 2; ++i) {
      GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
        totals[i / 2][i % 2].v[e] += sums[i / 2][i % 2].v[e];
      }
      sums[i / 2][i % 2] = ZeroTile();
    }
  }
  StoreTiles<T, kIsGated>(p, totals, up);
}

#define GDN_LINEAR_INSTANCES(Form)                                                                \
  {                                                                                               \
    GDN_GPU_INSTANCE(Params, Form<float, false>), GDN_GPU_INSTANCE(Params, Form<F16, false>),     \
        GDN_GPU_INSTANCE(Params, Form<Bf16, false>), GDN_GPU_INSTANCE(Params, Form<float, true>), \
        GDN_GPU_INSTANCE(Params, Form<F16, true>), GDN_GPU_INSTANCE(Params, Form<Bf16, true>)     \
  }

GDN_GPU_INSTANCES(linear_few_rows) = GDN_LINEAR_INSTANCES(LinearFewRows);
GDN_GPU_INSTANCES(linear_tiles) = GDN_LINEAR_INSTANCES(LinearTiles);

}  // namespace gdn::GDN_GPU_NAMESPACE
