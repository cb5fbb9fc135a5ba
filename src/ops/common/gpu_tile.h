// SPDX-License-Identifier: Apache-2.0
// Products of tiles by one warp: sum[i, j] += over m < 16 of left[i, m] right[j, m], i, j < 16,
// with f32 accumulators. On tensor or matrix cores where the device has them and the elements have
// 16 bits, else by fma with m ascending.
//
// Operands come from a source, which has Pair(i, m), elements m and m + 1 of row i (16 bits, m
// even), and Element(i, m), an element as f32. SharedRows is the usual one.
#pragma once

#include "backend/gpu/mma.h"
#include "ops/common/gpu_numerics.h"

namespace gdn::GDN_GPU_NAMESPACE {

constexpr uint32_t kTile = 16;
constexpr uint32_t kTileElements = kTile * kTile / kWarpSize;  // of a lane

GDN_DEVICE uint32_t Lane() { return ThreadIndex() % kWarpSize; }
GDN_DEVICE uint32_t WarpIndex() { return ThreadIndex() / kWarpSize; }

// A lane's elements of a product.
struct Tile {
  float v[kTileElements];
};
GDN_DEVICE Tile ZeroTile() {
  Tile tile;
  GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) tile.v[e] = 0;
  return tile;
}

// Rows of shared memory with m innermost, pitch elements apart.
template <class T>
struct SharedRows {
  SharedArray<T> rows;
  uint32_t pitch;

  GDN_DEVICE uint32_t Pair(uint32_t i, uint32_t m) const {
    return LoadPair<T>(rows, i * pitch + m);
  }
  GDN_DEVICE float Element(uint32_t i, uint32_t m) const {
    return ToF32(static_cast<T>(rows[i * pitch + m]));
  }
};

// ---- Without a matrix instruction: a lane has a column, and every (kWarpSize / 16)th row. ----

template <class T>
struct Products {
  static constexpr bool kIsMma = false;
  static GDN_DEVICE uint32_t Row(uint32_t e) { return kWarpSize / kTile * e + Lane() / kTile; }
  static GDN_DEVICE uint32_t Column(uint32_t /*e*/) { return Lane() % kTile; }

  // Operands are read as they are wanted.
  template <class Source>
  static GDN_DEVICE Source LoadLeft(const Source& source) {
    return source;
  }
  template <class Source>
  static GDN_DEVICE Source LoadRight(const Source& source) {
    return source;
  }
  template <class LeftSource, class RightSource>
  static GDN_DEVICE void Add(Tile& sum, const LeftSource& left, const RightSource& right) {
    for (uint32_t m = 0; m < kTile; ++m) {
      const float y = right.Element(Column(0), m);
      GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
        sum.v[e] = Fma(left.Element(Row(e), m), y, sum.v[e]);
      }
    }
  }
};

#ifdef GDN_GPU_MMA_SYNC
template <void (*kMma)(float (&)[4], const uint32_t (&)[4], const uint32_t (&)[2])>
struct MmaSyncProducts {
  static constexpr bool kIsMma = true;
  static GDN_DEVICE uint32_t Row(uint32_t e) { return Lane() / 4 + e / 2 % 2 * 8; }
  static GDN_DEVICE uint32_t Column(uint32_t e) { return Lane() % 4 * 2 + e % 2 + e / 4 * 8; }

  struct Left {
    uint32_t a[4];
  };
  struct Right {
    uint32_t b[2][2];  // of the left and the right 8 columns
  };
  template <class Source>
  static GDN_DEVICE Left LoadLeft(const Source& source) {
    const uint32_t row = Lane() / 4;
    const uint32_t m = Lane() % 4 * 2;
    return {{source.Pair(row, m), source.Pair(row + 8, m), source.Pair(row, m + 8),
             source.Pair(row + 8, m + 8)}};
  }
  template <class Source>
  static GDN_DEVICE Right LoadRight(const Source& source) {
    const uint32_t column = Lane() / 4;
    const uint32_t m = Lane() % 4 * 2;
    return {{{source.Pair(column, m), source.Pair(column, m + 8)},
             {source.Pair(column + 8, m), source.Pair(column + 8, m + 8)}}};
  }
  static GDN_DEVICE void Add(Tile& sum, const Left& left, const Right& right) {
    GDN_UNROLL for (uint32_t half = 0; half < 2; ++half) {
      float c[4];
      GDN_UNROLL for (uint32_t e = 0; e < 4; ++e) c[e] = sum.v[half * 4 + e];
      kMma(c, left.a, right.b[half]);
      GDN_UNROLL for (uint32_t e = 0; e < 4; ++e) sum.v[half * 4 + e] = c[e];
    }
  }
};
GDN_DEVICE void TileMmaBf16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  MmaBf16(c, a, b);
}
GDN_DEVICE void TileMmaF16(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  MmaF16(c, a, b);
}
template <>
struct Products<Bf16> : MmaSyncProducts<TileMmaBf16> {};
template <>
struct Products<F16> : MmaSyncProducts<TileMmaF16> {};
#endif

#if defined(GDN_GPU_MFMA) || defined(GDN_GPU_WMMA)
// A lane has kPairs pairs of a row of either operand.
template <uint32_t kPairs, void (*kMma)(float (&)[kTileElements], const uint32_t (&)[kPairs],
                                        const uint32_t (&)[kPairs])>
struct MatrixCoreProducts {
  static constexpr bool kIsMma = true;
  static GDN_DEVICE uint32_t Row(uint32_t e) {
    return kPairs == 2 ? Lane() / kTile * 4 + e : 2 * e + Lane() / kTile;
  }
  static GDN_DEVICE uint32_t Column(uint32_t /*e*/) { return Lane() % kTile; }

  struct Left {
    uint32_t a[kPairs];
  };
  using Right = Left;
  template <class Source>
  static GDN_DEVICE Left LoadLeft(const Source& source) {
    const uint32_t first = kPairs == 2 ? Lane() / kTile * 4 : 0;
    Left left;
    GDN_UNROLL for (uint32_t i = 0; i < kPairs; ++i) {
      left.a[i] = source.Pair(Lane() % kTile, first + 2 * i);
    }
    return left;
  }
  template <class Source>
  static GDN_DEVICE Right LoadRight(const Source& source) {
    return LoadLeft(source);
  }
  static GDN_DEVICE void Add(Tile& sum, const Left& left, const Right& right) {
    kMma(sum.v, left.a, right.a);
  }
};
#ifdef GDN_GPU_MFMA
GDN_DEVICE void TileMmaBf16(float (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2]) {
  MfmaBf16(c, a, b);
}
GDN_DEVICE void TileMmaF16(float (&c)[4], const uint32_t (&a)[2], const uint32_t (&b)[2]) {
  MfmaF16(c, a, b);
}
constexpr uint32_t kPairsOfALane = 2;
#else
GDN_DEVICE void TileMmaBf16(float (&c)[8], const uint32_t (&a)[8], const uint32_t (&b)[8]) {
  WmmaBf16(c, a, b);
}
GDN_DEVICE void TileMmaF16(float (&c)[8], const uint32_t (&a)[8], const uint32_t (&b)[8]) {
  WmmaF16(c, a, b);
}
constexpr uint32_t kPairsOfALane = 8;
#endif
template <>
struct Products<Bf16> : MatrixCoreProducts<kPairsOfALane, TileMmaBf16> {};
template <>
struct Products<F16> : MatrixCoreProducts<kPairsOfALane, TileMmaF16> {};
#endif

// sum += left right^T of tiles of T.
template <class T, class LeftSource, class RightSource>
GDN_DEVICE void MultiplyAdd(Tile& sum, const LeftSource& left, const RightSource& right) {
  Products<T>::Add(sum, Products<T>::LoadLeft(left), Products<T>::LoadRight(right));
}

// The same with a left operand of f32, as it stands, into a product of T.
template <class T, class LeftSource, class RightSource>
GDN_DEVICE void MultiplyAddF32(Tile& sum, const LeftSource& left, const RightSource& right) {
  for (uint32_t m = 0; m < kTile; ++m) {
    GDN_UNROLL for (uint32_t e = 0; e < kTileElements; ++e) {
      sum.v[e] = Fma(left.Element(Products<T>::Row(e), m), right.Element(Products<T>::Column(e), m),
                     sum.v[e]);
    }
  }
}

// The left operand of f32 as its leading and its other bits: of one with the 11 significant bits of
// TF32 both are bf16, and the two products are exact.
template <class Source>
struct LeadingBits {
  Source source;
  bool rest;

  GDN_DEVICE uint32_t Half(uint32_t i, uint32_t m) const {
    const float x = source.Element(i, m);
    const float leading = FloatOf(BitsOf(x) & 0xFFFF0000U);
    return BitsOf(rest ? x - leading : leading) >> 16;
  }
  GDN_DEVICE uint32_t Pair(uint32_t i, uint32_t m) const {
    return Half(i, m) | Half(i, m + 1) << 16;
  }
};

// The same with a left operand of TF32: its low 13 bits are zero.
template <class T>
struct Tf32Products {
  template <class LeftSource, class RightSource>
  static GDN_DEVICE void Add(Tile& sum, const LeftSource& left, const RightSource& right) {
    MultiplyAddF32<T>(sum, left, right);
  }
};

#ifdef GDN_GPU_TF32
struct MmaTf32Products {
  template <class LeftSource, class RightSource>
  static GDN_DEVICE void Add(Tile& sum, const LeftSource& left, const RightSource& right) {
    const uint32_t row = Lane() / 4;
    GDN_UNROLL for (uint32_t first = 0; first < kTile; first += 8) {
      const uint32_t m = first + Lane() % 4;
      const uint32_t a[4] = {BitsOf(left.Element(row, m)), BitsOf(left.Element(row + 8, m)),
                             BitsOf(left.Element(row, m + 4)),
                             BitsOf(left.Element(row + 8, m + 4))};
      GDN_UNROLL for (uint32_t half = 0; half < 2; ++half) {
        const uint32_t column = row + half * 8;
        const uint32_t b[2] = {BitsOf(right.Element(column, m)),
                               BitsOf(right.Element(column, m + 4))};
        float c[4];
        GDN_UNROLL for (uint32_t e = 0; e < 4; ++e) c[e] = sum.v[half * 4 + e];
        MmaTf32(c, a, b);
        GDN_UNROLL for (uint32_t e = 0; e < 4; ++e) sum.v[half * 4 + e] = c[e];
      }
    }
  }
};
template <>
struct Tf32Products<Bf16> : MmaTf32Products {};
template <>
struct Tf32Products<F16> : MmaTf32Products {};
#elif defined(GDN_GPU_MFMA) || defined(GDN_GPU_WMMA)
template <>
struct Tf32Products<Bf16> {
  template <class LeftSource, class RightSource>
  static GDN_DEVICE void Add(Tile& sum, const LeftSource& left, const RightSource& right) {
    const auto loaded = Products<Bf16>::LoadRight(right);
    GDN_UNROLL for (uint32_t part = 0; part < 2; ++part) {
      const LeadingBits<LeftSource> bits = {left, part == 1};
      Products<Bf16>::Add(sum, Products<Bf16>::LoadLeft(bits), loaded);
    }
  }
};
#endif

}  // namespace gdn::GDN_GPU_NAMESPACE
