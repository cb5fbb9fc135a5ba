// SPDX-License-Identifier: Apache-2.0
// The inner product of the matrix kernels: a few rows against a panel of 32 columns, one
// accumulator an output and k ascending, whatever the tile's shape. Included once per target.

#if defined(GDN_OPS_COMMON_FMA_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_COMMON_FMA_TILE_INL_H_
#undef GDN_OPS_COMMON_FMA_TILE_INL_H_
#else
#define GDN_OPS_COMMON_FMA_TILE_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ops/common/row_tiling.h"
#include "ops/common/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

inline constexpr int kTileCols = 32;
inline constexpr int kTileLanes = static_cast<int>(hn::MaxLanes(DF()));
inline constexpr int kTileVecs = kTileCols / kTileLanes;

// Accumulators that leave registers for the operands: 2 fma a cycle with 4 cycles of latency want
// at least 8 in flight.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
inline constexpr int kTileMaxAccs = 12;  // of 16 registers
inline constexpr int kTileMaxRows = 6;
#else
inline constexpr int kTileMaxAccs = 16;  // of 32 registers
inline constexpr int kTileMaxRows = 8;
#endif

// Vectors of columns that a tile of so many rows takes at once.
constexpr int TileVecs(int rows) {
  int vecs = 1;
  while (vecs * 2 <= kTileVecs && vecs * 2 * rows <= kTileMaxAccs) vecs *= 2;
  return vecs;
}

// Into tiles of at most kTileMaxRows.
inline RowTiling TilingOf(int64_t num_rows) {
  return {num_rows, (num_rows + kTileMaxRows - 1) / kTileMaxRows};
}

// Calls body(std::integral_constant<int, rows>()), rows in [1, kTileMaxRows].
template <int kRows = kTileMaxRows, class Body>
HWY_INLINE void WithTileRows(int rows, const Body& body) {
  if constexpr (kRows > 1) {
    if (rows != kRows) return WithTileRows<kRows - 1>(rows, body);
  }
  body(std::integral_constant<int, kRows>());
}

// Registers, not memory: a C array so that every access is a compile-time index after unrolling.
template <int kRows, int kVecs>
struct TileAccs {
  VF v[kRows][kVecs];
};

template <int kRows, int kVecs>
HWY_INLINE void ZeroTile(TileAccs<kRows, kVecs>& acc) {
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (int c = 0; c < kVecs; ++c) acc.v[r][c] = hn::Zero(DF());
  }
}

// Packs one row of a tile's left operand, element k to inputs[k * num_rows]: the tile then reads
// one stream, on no power-of-two stride.
template <class T>
HWY_INLINE void PackTileRow(const T* HWY_RESTRICT row, size_t count, size_t num_rows,
                            float* HWY_RESTRICT inputs) {
  HWY_ALIGN float lanes[kTileLanes];
  ForEachVec(count, [&](size_t k, size_t n) HWY_ATTR {
    const VF values = LoadVecAny(row + k, n);
    if (num_rows == 1) return StoreVecAny(values, inputs + k, n);
    hn::Store(values, DF(), lanes);
    for (size_t i = 0; i < n; ++i) inputs[(k + i) * num_rows] = lanes[i];
  });
}

// Rows of c lie ldc floats apart.
template <int kRows, int kVecs>
HWY_INLINE void LoadTile(const float* HWY_RESTRICT c, size_t ldc, TileAccs<kRows, kVecs>& acc) {
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) {
      acc.v[r][v] = hn::LoadU(DF(), c + static_cast<size_t>(r) * ldc + v * kTileLanes);
    }
  }
}

template <int kRows, int kVecs>
HWY_INLINE void StoreTile(const TileAccs<kRows, kVecs>& acc, float* HWY_RESTRICT c, size_t ldc) {
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) {
      hn::StoreU(acc.v[r][v], DF(), c + static_cast<size_t>(r) * ldc + v * kTileLanes);
    }
  }
}

// Row r times factors[r].
template <int kRows, int kVecs>
HWY_INLINE void ScaleTile(const float* factors, TileAccs<kRows, kVecs>& acc) {
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    const VF factor = hn::Set(DF(), factors[r]);
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) acc.v[r][v] = hn::Mul(acc.v[r][v], factor);
  }
}

// acc[r] += a[r * a_row] * b(v) for one k. The shorter side stays in registers, so that the longest
// tiles have operands and accumulators in 16 of them.
template <int kRows, int kVecs, class B>
HWY_INLINE void FmaStep(const float* HWY_RESTRICT a, size_t a_row, const B& b,
                        TileAccs<kRows, kVecs>& acc) {
  const DF df;
  if constexpr (kRows < kVecs) {
    VF x[kRows];
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) x[r] = hn::Set(df, a[static_cast<size_t>(r) * a_row]);
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) {
      const VF y = b(v);
      HWY_UNROLL(8)
      for (int r = 0; r < kRows; ++r) acc.v[r][v] = hn::MulAdd(x[r], y, acc.v[r][v]);
    }
  } else {
    VF y[kVecs];
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) y[v] = b(v);
    HWY_UNROLL(8)
    for (int r = 0; r < kRows; ++r) {
      const VF x = hn::Set(df, a[static_cast<size_t>(r) * a_row]);
      HWY_UNROLL(8)
      for (int v = 0; v < kVecs; ++v) acc.v[r][v] = hn::MulAdd(x, y[v], acc.v[r][v]);
    }
  }
}

// acc[r] += sum over k of a[k * a_k + r * a_row] * b[k * ldb], k ascending.
template <int kRows, int kVecs>
HWY_INLINE void FmaTile(const float* HWY_RESTRICT a, size_t a_k, size_t a_row,
                        const float* HWY_RESTRICT b, size_t ldb, size_t k_count,
                        TileAccs<kRows, kVecs>& acc) {
  for (size_t k = 0; k < k_count; ++k) {
    const float* row = b + k * ldb;
    FmaStep<kRows, kVecs>(
        a + k * a_k, a_row, [row](int v) HWY_ATTR { return hn::LoadU(DF(), row + v * kTileLanes); },
        acc);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_COMMON_FMA_TILE_INL_H_
