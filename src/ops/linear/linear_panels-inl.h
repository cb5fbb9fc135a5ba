// SPDX-License-Identifier: Apache-2.0
// Rows of inputs against panels of weights. Vector lanes run over the 32 outputs of a panel and k
// ascends into one accumulator an output, so that neither the vector width nor the rows that share
// a tile change a bit. (The SSE4 target has no fma: there products are rounded before the sum.)

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

// Columns that the highest tile takes at once: those of a widened block.
constexpr int kBlockVecs = TileVecs(kTileMaxRows);
constexpr int64_t kBlockCols = kBlockVecs * kTileLanes;
constexpr int64_t kBlockK = HWY_MIN(kBlockFloats / kBlockCols, kMaxBlockK);
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

// k_count k of kBlockCols columns of a panel as f32, [k_count, kBlockCols].
template <class T>
HWY_INLINE void WidenBlock(const uint32_t* HWY_RESTRICT dwords, int64_t k_count,
                           float* HWY_RESTRICT block) {
  constexpr int64_t kPerDword = KPerDword(DTypeOf<T>());
  for (int64_t k = 0; k < k_count; k += kPerDword) {
    HWY_UNROLL(8)
    for (int v = 0; v < kBlockVecs; ++v) {
      const VU dword = hn::LoadU(DU(), dwords + k / kPerDword * kPanel + v * kTileLanes);
      float* to = block + k * kBlockCols + v * kTileLanes;
      if constexpr (std::is_same_v<T, float>) {
        hn::StoreU(hn::BitCast(DF(), dword), DF(), to);
      } else {
        hn::StoreU(EvenOf(T(), dword), DF(), to);
        // With an odd count this is the padding's zero row, inside the block.
        hn::StoreU(OddOf(T(), dword), DF(), to + kBlockCols);
      }
    }
  }
}

// A tile straight from a panel. prefetch walks along with the weights; null for none.
template <class T, int kRows, int kVecs>
HWY_INLINE void PanelTile(const float* HWY_RESTRICT a, const uint32_t* HWY_RESTRICT dword,
                          int64_t k_count, const uint32_t* prefetch, TileAccs<kRows, kVecs>& acc) {
  if constexpr (std::is_same_v<T, float>) {
    FmaTile<kRows, kVecs>(a, kRows, 1, reinterpret_cast<const float*>(dword), kPanel,
                          static_cast<size_t>(k_count), acc);
  } else {
    const auto even = [&dword](int v) GDN_INLINE_LAMBDA {
      return EvenOf(T(), hn::LoadU(DU(), dword + v * kTileLanes));
    };
    const auto odd = [&dword](int v) GDN_INLINE_LAMBDA {
      return OddOf(T(), hn::LoadU(DU(), dword + v * kTileLanes));
    };
    for (int64_t k = 0; k + 1 < k_count; k += 2, a += 2 * kRows, dword += kPanel) {
      if (prefetch != nullptr) {
        hwy::Prefetch(prefetch + k / 2 * kPanel);
        hwy::Prefetch(prefetch + k / 2 * kPanel + kPanel / 2);
      }
      FmaStep<kRows, kVecs>(a, 1, even, acc);
      FmaStep<kRows, kVecs>(a + kRows, 1, odd, acc);
    }
    if (k_count % 2 != 0) FmaStep<kRows, kVecs>(a, 1, even, acc);
  }
}

// A tile's sums so far, [rows of the tile, 32].
template <int kRows, int kVecs>
HWY_INLINE void StartTile(bool first, const float* sums, TileAccs<kRows, kVecs>& acc) {
  if (first) {
    ZeroTile(acc);
  } else {
    LoadTile(sums, kPanel, acc);
  }
}

// A tile of outputs that is complete.
struct TileAt {
  int64_t tile;  // of the tiling
  int panel;     // of the task
  int64_t col;   // of the panel, the first of the tile's
};

// Touches the lines of a block of weights in equal parts, so that its way from memory overlaps the
// arithmetic of every tile.
class NextBlock {
 public:
  // The first cols columns of num_rows rows of dwords.
  NextBlock(const uint32_t* dwords, int64_t num_rows, int64_t cols)
      : dwords_(dwords), num_rows_(num_rows), cols_(cols) {}
  HWY_INLINE void Fetch(int64_t part, int64_t parts) const {
    for (int64_t i = part * num_rows_ / parts; i < (part + 1) * num_rows_ / parts; ++i) {
      for (int64_t c = 0; c < cols_; c += 16) hwy::Prefetch(dwords_ + i * kPanel + c);
    }
  }

 private:
  const uint32_t* dwords_;
  int64_t num_rows_, cols_;
};

// Many tiles: a block of columns is widened once for all of them, panel by panel for each range of
// k, so that the inputs of that range stay in the second-level cache. The last range ends with
// finish(TileAt, accumulators, where the sums were).
template <class T, class Finish>
void RunBlocks(const LinearInputs& in, const PanelTask& task, WorkerArea& area,
               const Finish& finish) {
  constexpr int64_t kPerDword = KPerDword(DTypeOf<T>());
  const int64_t num_cols = in.x.dim(1);
  for (int64_t k = 0; k < num_cols; k += kBlockK) {
    const int64_t k_count = std::min(kBlockK, num_cols - k);
    const int64_t offset = k / kPerDword * kPanel;
    for (int panel = 0; panel < task.num_panels; ++panel) {
      for (int64_t col = 0; col < kPanel; col += kBlockCols) {
        const uint32_t* source = task.panels[panel] + offset + col;
        WidenBlock<T>(source, k_count, area.block.data());
        const uint32_t* next = col + kBlockCols < kPanel ? source + kBlockCols
                               : panel + 1 < task.num_panels
                                   ? task.panels[panel + 1] + offset
                                   : task.panels[0] + offset + kBlockK / kPerDword * kPanel;
        const NextBlock next_block(next, kBlockK / kPerDword, kBlockCols);
        for (int64_t tile = task.tiles.first; tile < task.tiles.last; ++tile) {
          next_block.Fetch(tile - task.tiles.first, task.tiles.count());
          const int height = in.tiling.Height(tile);
          const float* a = in.Tile(tile) + k * height;
          float* sums = area.Sums(panel) + in.RowIn(task.tiles, tile) * kPanel + col;
          WithTileRows(height, [&](auto rows) HWY_ATTR {
            constexpr int kRows = decltype(rows)::value;
            TileAccs<kRows, kBlockVecs> acc;
            StartTile(k == 0, sums, acc);
            FmaTile<kRows, kBlockVecs>(a, kRows, 1, area.block.data(), kBlockCols,
                                       static_cast<size_t>(k_count), acc);
            if (k + k_count == num_cols) {
              finish({tile, panel, col}, acc, sums);
            } else {
              StoreTile(acc, sums, kPanel);
            }
          });
        }
      }
    }
  }
}

// Adds k_count k of all columns of a panel to a tile's sums. A function of its own: inlined into
// the loops around it the longest tiles spill.
template <class T, int kRows>
HWY_NOINLINE void AddPanel(const float* a, const uint32_t* source, int64_t k_count, bool first,
                           const uint32_t* prefetch, float* sums) {
  constexpr int kVecs = TileVecs(kRows);
  for (int v = 0; v < kTileVecs; v += kVecs) {
    TileAccs<kRows, kVecs> acc;
    StartTile(first, sums + v * kTileLanes, acc);
    PanelTile<T, kRows, kVecs>(a, source + v * kTileLanes, k_count, v == 0 ? prefetch : nullptr,
                               acc);
    StoreTile(acc, sums + v * kTileLanes, kPanel);
  }
}

template <int kRows, class Finish>
HWY_NOINLINE void FinishPanel(int64_t tile, int panel, float* sums, const Finish& finish) {
  constexpr int kVecs = TileVecs(kRows);
  for (int v = 0; v < kTileVecs; v += kVecs) {
    TileAccs<kRows, kVecs> acc;
    LoadTile(sums + v * kTileLanes, kPanel, acc);
    finish({tile, panel, v * kTileLanes}, acc, sums + v * kTileLanes);
  }
}

// Few tiles: the weights stream from memory and are widened in each.
template <class T, class Finish>
void RunStream(const LinearInputs& in, const PanelTask& task, WorkerArea& area,
               const Finish& finish) {
  constexpr int64_t kPerDword = KPerDword(DTypeOf<T>());
  const int64_t num_cols = in.x.dim(1);
  const bool alone = task.tiles.count() == 1;
  const int64_t range = alone ? kStreamK : kSharedK;
  for (int panel = 0; panel < task.num_panels; ++panel) {
    for (int64_t k = 0; k < num_cols; k += range) {
      const int64_t k_count = std::min(range, num_cols - k);
      const uint32_t* source = task.panels[panel] + k / kPerDword * kPanel;
      const NextBlock next(source + range / kPerDword * kPanel, range / kPerDword, kPanel);
      for (int64_t tile = task.tiles.first; tile < task.tiles.last; ++tile) {
        if (!alone) next.Fetch(tile - task.tiles.first, task.tiles.count());
        const int height = in.tiling.Height(tile);
        const float* a = in.Tile(tile) + k * height;
        float* sums = area.Sums(panel) + in.RowIn(task.tiles, tile) * kPanel;
        WithTileRows(height, [&](auto rows) HWY_ATTR {
          constexpr int kRows = decltype(rows)::value;
          AddPanel<T, kRows>(a, source, k_count, k == 0, alone ? source + kPrefetchDwords : nullptr,
                             sums);
          if (k + k_count == num_cols) FinishPanel<kRows>(tile, panel, sums, finish);
        });
      }
    }
  }
}

template <class T, class Finish>
void RunPanels(const LinearInputs& in, const PanelTask& task, WorkerArea& area,
               const Finish& finish) {
  if (task.tiles.count() >= kMinWidenPasses) {
    RunBlocks<T>(in, task, area, finish);
  } else {
    RunStream<T>(in, task, area, finish);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_LINEAR_LINEAR_PANELS_INL_H_
