// SPDX-License-Identifier: Apache-2.0
// Rows of inputs against panels of weights. Vector lanes run over the 32 outputs of a panel, and an
// output's sum has the order of SliceCols (weight_layout.h), so that neither the vector width nor
// the rows that share a tile change a bit. (The SSE4 target has no fma: there products are rounded
// before the sum.)

#if defined(GDN_OPS_LINEAR_LINEAR_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_LINEAR_LINEAR_PANELS_INL_H_
#undef GDN_OPS_LINEAR_LINEAR_PANELS_INL_H_
#else
#define GDN_OPS_LINEAR_LINEAR_PANELS_INL_H_
#endif

#include <hwy/cache_control.h>

#include "ops/common/fma_tile-inl.h"
#include "ops/common/transpose-inl.h"
#include "ops/linear/linear_task.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

constexpr int64_t kPanel = Weight::kPanelRows;
static_assert(kPanel == kTileCols);
static_assert(kTileMaxRows <= kMaxTileRows);

// The f32 of k even and k odd from the dwords of 16-bit panels.
HWY_INLINE VF EvenOf(Bf16 /*tag*/, VU dwords) { return WidenBf16(dwords); }
HWY_INLINE VF OddOf(Bf16 /*tag*/, VU dwords) {
  return hn::BitCast(DF(), hn::And(dwords, hn::Set(DU(), 0xFFFF0000)));
}
HWY_INLINE VF EvenOf(F16 /*tag*/, VU dwords) { return WidenF16(dwords); }
HWY_INLINE VF OddOf(F16 /*tag*/, VU dwords) { return WidenF16(hn::ShiftRight<16>(dwords)); }

// Rows of x as f32, interleaved: element k of row r to out[k * height + r], so that a tile reads
// one stream, on no power-of-two stride.
template <class T>
void PackTile(const LinearInputs& in, int64_t tile) {
  constexpr size_t kColumns = 256;
  HWY_ALIGN float rows[kMaxTileRows * kColumns];
  const auto num_cols = static_cast<size_t>(in.x.dim(1));
  const auto height = static_cast<size_t>(in.tiling.Height(tile));
  float* out = in.Tile(tile);
  for (size_t k = 0; k < num_cols; k += kColumns) {
    const size_t count = HWY_MIN(kColumns, num_cols - k);
    for (size_t r = 0; r < height; ++r) {
      const T* row = in.x.Row<T>(in.tiling.First(tile) + static_cast<int64_t>(r)) + k;
      float* wide = rows + r * kColumns;
      ForEachVec(count, [&](size_t i, size_t n)
                            HWY_ATTR { StoreVecAny(LoadVecAny(row + i, n), wide + i, n); });
    }
    Transpose(rows, kColumns, height, count, out + k * height, height);
  }
}

// Weights that a pass over a panel brings near: it touches from + i * step with row i of the dwords
// that it reads. In a burst the touches would fill the core's miss buffers, and the tile's own
// loads would wait behind them.
struct Ahead {
  const uint32_t* from;
  int64_t step;
};

// A tile straight from a panel.
template <class T, int kRows, int kVecs>
HWY_INLINE void PanelTile(const float* HWY_RESTRICT a, const uint32_t* HWY_RESTRICT dword,
                          int64_t k_count, Ahead ahead, TileAccs<kRows, kVecs>& acc) {
  constexpr int64_t kPerDword = KPerDword(DTypeOf<T>());
  const auto even = [&dword](int v) GDN_INLINE_LAMBDA {
    const VU bits = hn::LoadU(DU(), dword + v * kTileLanes);
    if constexpr (std::is_same_v<T, float>) {
      return hn::BitCast(DF(), bits);
    } else {
      return EvenOf(T(), bits);
    }
  };
  for (int64_t k = 0; k + kPerDword <= k_count; k += kPerDword) {
    hwy::Prefetch(ahead.from);
    // The only pass over a row: a step is up to two lines.
    if constexpr (kVecs == kTileVecs) hwy::Prefetch(ahead.from + ahead.step / 2);
    ahead.from += ahead.step;
    FmaStep<kRows, kVecs>(a, 1, even, acc);
    if constexpr (kPerDword == 2) {
      const auto odd = [&dword](int v) GDN_INLINE_LAMBDA {
        return OddOf(T(), hn::LoadU(DU(), dword + v * kTileLanes));
      };
      FmaStep<kRows, kVecs>(a + kRows, 1, odd, acc);
    }
    a += kPerDword * kRows;
    dword += kPanel;
  }
  if (k_count % kPerDword != 0) FmaStep<kRows, kVecs>(a, 1, even, acc);
}

// Where a range of k lies in its slice.
struct InSlice {
  bool is_first_range, is_last_range, is_first_slice;
};

// Starts from the sums of the slice's ranges before.
template <int kRows, int kVecs>
HWY_INLINE void StartTile(const InSlice& at, const float* sums, TileAccs<kRows, kVecs>& acc) {
  if (at.is_first_range) {
    ZeroTile(acc);
  } else {
    LoadTile(sums, kPanel, acc);
  }
}

// A whole slice is added to the totals; sums wait for the slice's next range.
template <int kRows, int kVecs>
HWY_INLINE void FinishTile(const InSlice& at, TileAccs<kRows, kVecs>& acc, float* sums,
                           float* totals) {
  if (!at.is_last_range) return StoreTile(acc, sums, kPanel);
  TileAccs<kRows, kVecs> total;
  if (at.is_first_slice) {
    ZeroTile(total);
  } else {
    LoadTile(totals, kPanel, total);
  }
  HWY_UNROLL(8)
  for (int r = 0; r < kRows; ++r) {
    HWY_UNROLL(8)
    for (int v = 0; v < kVecs; ++v) acc.v[r][v] = hn::Add(total.v[r][v], acc.v[r][v]);
  }
  StoreTile(acc, totals, kPanel);
}

// Adds k_count k of all columns of a panel to a tile's sums [rows of the tile, 32] and totals. A
// function of its own: inlined into the loops around it the longest tiles spill.
template <class T, int kRows>
HWY_NOINLINE void AddPanel(const float* a, const uint32_t* source, int64_t k_count,
                           const InSlice& at, Ahead ahead, float* sums, float* totals) {
  constexpr int kVecs = TileVecs(kRows);
  constexpr int64_t kPasses = kTileVecs / kVecs;
  const int64_t part = k_count / KPerDword(DTypeOf<T>()) * ahead.step / kPasses;
  const int64_t step = (ahead.step + kPasses - 1) / kPasses;
  for (int64_t pass = 0; pass < kPasses; ++pass) {
    TileAccs<kRows, kVecs> acc;
    const int64_t col = pass * kVecs * kTileLanes;
    StartTile(at, sums + col, acc);
    PanelTile<T, kRows, kVecs>(a, source + col, k_count, {ahead.from + pass * part, step}, acc);
    FinishTile(at, acc, sums + col, totals + col);
  }
}

// Tiles against panels: range by range of k, so that the weights of a range, brought in once, stay
// in the first-level cache while every tile passes over them, and are widened in each. Calls
// finish(tile, panel, totals [rows of the tile, 32]) once k is through.
template <class T, class Finish>
void RunPanels(const LinearInputs& in, const PanelTask& task, WorkerArea& area,
               const Finish& finish) {
  constexpr int64_t kPerDword = KPerDword(DTypeOf<T>());
  const int64_t num_cols = in.x.dim(1);
  const int64_t num_tiles = task.tiles.count();
  // f32 has too little arithmetic to hide the cost of asking: there the hardware fetches alone.
  constexpr int64_t kStreamAhead = kPerDword == 1 ? 0 : kPrefetchDwords;
  // A tile that takes all columns at once reads the weights once, as a stream: it fetches a little
  // ahead. Else each pass over a range brings in its part of the next.
  const bool once = num_tiles == 1 && TileVecs(in.tiling.Height(task.tiles.first)) == kTileVecs;
  const int64_t range = (once ? kStreamDwords : kSharedDwords) * kPerDword;
  const int64_t slice = SliceCols(num_cols);
  const int64_t tile_step = (kPanel + num_tiles - 1) / num_tiles;
  for (int panel = 0; panel < task.num_panels; ++panel) {
    for (int64_t k = 0, k_count = 0; k < num_cols; k += k_count) {
      const int64_t slice_end = std::min(k / slice * slice + slice, num_cols);
      k_count = std::min(range, slice_end - k);
      const InSlice at = {k % slice == 0, k + k_count == slice_end, k < slice};
      const uint32_t* source = task.panels[static_cast<size_t>(panel)] + k / kPerDword * kPanel;
      const uint32_t* ahead = once                     ? source + kStreamAhead
                              : k + k_count < num_cols ? source + k_count / kPerDword * kPanel
                                                       : task.After(panel);
      for (int64_t tile = task.tiles.first; tile < task.tiles.last; ++tile) {
        const int height = in.tiling.Height(tile);
        const float* a = in.Tile(tile) + k * height;
        const int64_t row = in.RowIn(task.tiles, tile) * kPanel;
        float* totals = area.Totals(panel) + row;
        WithTileRows(height, [&](auto rows) HWY_ATTR {
          constexpr int kRows = decltype(rows)::value;
          AddPanel<T, kRows>(a, source, k_count, at, {ahead, tile_step}, area.Sums() + row, totals);
        });
        if (k + k_count == num_cols) finish(tile, panel, totals);
        ahead += k_count / kPerDword * kPanel / num_tiles;
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_LINEAR_LINEAR_PANELS_INL_H_
