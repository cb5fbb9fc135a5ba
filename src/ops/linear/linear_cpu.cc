// SPDX-License-Identifier: Apache-2.0
// Panel kernel for any number of rows. Vector lanes run over the 32 outputs of a panel and k
// ascends into one accumulator an output, so that neither the vector width nor the rows that share
// a tile change a bit. (The SSE4 target has no fma: there products are rounded before the sum.)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/linear/linear_cpu.cc"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ops/common/fma_tile-inl.h"
#include "ops/linear/linear_kernels.h"
#include "ops/linear/weight_layout.h"

#ifndef GDN_OPS_LINEAR_LINEAR_CPU_ONCE_
#define GDN_OPS_LINEAR_LINEAR_CPU_ONCE_
namespace gdn {
namespace {

// k of a panel that are widened at once: 16 KiB of f32, half of the smallest first-level cache.
constexpr int64_t kBlockK = 128;
// k of a panel that a lone tile takes at once: what its first pass brings in, 16 KiB of pairs, is
// still in the first-level cache for its next columns.
constexpr int64_t kStreamK = 256;
// Rows that pass over a widened block before the next: their inputs of kBlockK columns and their
// sums stay in the second-level cache, and the widening is 1% of the work.
constexpr int64_t kMaxBlockRows = 128;
// Multiply-adds times 32 that make a task worth its hand-over, a few microseconds.
constexpr int64_t kMinTaskWork = 1024;
// Elements of x that the caller converts alone, sooner than another thread would have woken.
constexpr int64_t kMinSharedConversion = 32768;

// Tiles from which on a widened copy of a block costs less than widening in each of them (Zen 3,
// bf16: at 2 tiles 8-12% slower, at 3 even).
constexpr int64_t kMinWidenPasses = 4;
// How far ahead of a stream of weights a single tile fetches: 2 KiB.
constexpr int64_t kPrefetchDwords = 512;

// What one worker has in ctx.scratch.
struct WorkerArea {
  alignas(64) float block[kBlockK * Weight::kPanelRows];
  alignas(64) float sums[kMaxBlockRows * Weight::kPanelRows];
};

constexpr size_t AlignUp(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace
}  // namespace gdn
#endif  // GDN_OPS_LINEAR_LINEAR_CPU_ONCE_

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kPanel = Weight::kPanelRows;
static_assert(kPanel == kTileCols);

// The f32 of k even and k odd from the dwords of 16-bit panels.
HWY_INLINE VF EvenOf(Bf16 /*tag*/, VU dwords) { return WidenBf16(dwords); }
HWY_INLINE VF OddOf(Bf16 /*tag*/, VU dwords) {
  return hn::BitCast(DF(), hn::And(dwords, hn::Set(DU(), 0xFFFF0000)));
}
HWY_INLINE VF EvenOf(F16 /*tag*/, VU dwords) { return WidenF16(dwords); }
HWY_INLINE VF OddOf(F16 /*tag*/, VU dwords) { return WidenF16(hn::ShiftRight<16>(dwords)); }

// k_count k of a panel as f32, [k_count, 32].
template <class T>
HWY_INLINE void WidenBlock(const uint32_t* HWY_RESTRICT dwords, int64_t k_count,
                           float* HWY_RESTRICT block) {
  for (int64_t k = 0; k < k_count; k += 2) {
    HWY_UNROLL(8)
    for (int v = 0; v < kTileVecs; ++v) {
      const VU pair = hn::LoadU(DU(), dwords + k / 2 * kPanel + v * kTileLanes);
      hn::StoreU(EvenOf(T(), pair), DF(), block + k * kPanel + v * kTileLanes);
      // With an odd count this is the padding's zero row, inside the block.
      hn::StoreU(OddOf(T(), pair), DF(), block + (k + 1) * kPanel + v * kTileLanes);
    }
  }
}

// A tile straight from a panel of 16-bit pairs. prefetch walks along with the pairs; null for none.
template <class T, int kRows, int kVecs>
HWY_INLINE void PairTile(const float* HWY_RESTRICT a, const uint32_t* HWY_RESTRICT pair,
                         int64_t k_count, const uint32_t* prefetch, TileAccs<kRows, kVecs>& acc) {
  const auto even = [&pair](int v)
                        HWY_ATTR { return EvenOf(T(), hn::LoadU(DU(), pair + v * kTileLanes)); };
  const auto odd = [&pair](int v)
                       HWY_ATTR { return OddOf(T(), hn::LoadU(DU(), pair + v * kTileLanes)); };
  for (int64_t k = 0; k + 1 < k_count; k += 2, a += 2 * kRows, pair += kPanel) {
    if (prefetch != nullptr) {
      hwy::Prefetch(prefetch + k / 2 * kPanel);
      hwy::Prefetch(prefetch + k / 2 * kPanel + kPanel / 2);
    }
    FmaStep<kRows, kVecs>(a, 1, even, acc);
    FmaStep<kRows, kVecs>(a + kRows, 1, odd, acc);
  }
  if (k_count % 2 != 0) FmaStep<kRows, kVecs>(a, 1, even, acc);
}

// Adds k_count k to the sums [rows of the tile, 32]; source is a block of f32 or 16-bit pairs.
template <class T, int kRows>
HWY_INLINE void AddTile(const float* a, const uint32_t* source, int64_t k_count, bool first,
                        const uint32_t* prefetch, float* sums) {
  constexpr int kVecs = TileVecs(kRows);
  for (int v = 0; v < kTileVecs; v += kVecs) {
    TileAccs<kRows, kVecs> acc;
    float* out = sums + v * kTileLanes;
    if (first) {
      ZeroTile(acc);
    } else {
      LoadTile(out, kPanel, acc);
    }
    if constexpr (std::is_same_v<T, float>) {
      FmaTile<kRows, kVecs>(a, kRows, 1, reinterpret_cast<const float*>(source) + v * kTileLanes,
                            kPanel, static_cast<size_t>(k_count), acc);
    } else {
      PairTile<T, kRows, kVecs>(a, source + v * kTileLanes, k_count, v == 0 ? prefetch : nullptr,
                                acc);
    }
    StoreTile(acc, out, kPanel);
  }
}

template <class Out, class Round>
HWY_INLINE void RoundRow(const float* sums, int64_t count, Out* out) {
  ForEachVec(static_cast<size_t>(count), [&](size_t i, size_t n) HWY_ATTR {
    StoreVecAny(RoundVec<Round>(hn::LoadU(DF(), sums + i)), out + i, n);
  });
}

// sums hold whole vectors past count.
void WriteRow(const LinearArgs& args, const float* sums, int64_t row, int64_t first,
              int64_t count) {
  DispatchFloat(args.round_to, [&](auto rounded) HWY_ATTR {
    using R = decltype(rounded);
    if (args.out.dtype == DType::kF32) {
      RoundRow<float, R>(sums, count, args.out.Row<float>(row) + first);
    } else {
      RoundRow<R, R>(sums, count, args.out.Row<R>(row) + first);
    }
  });
}

// Touches cache lines [part, part + 1) * count / parts of what comes next, so that its way from
// memory overlaps the arithmetic of every tile.
HWY_INLINE void PrefetchPart(const uint32_t* next, int64_t lines, int64_t part, int64_t parts) {
  for (int64_t i = part * lines / parts; i < (part + 1) * lines / parts; ++i) {
    hwy::Prefetch(next + i * 16);
  }
}

// Rows of tiles [first_tile, last_tile) against one panel.
template <class T>
void RunPanel(const LinearArgs& args, const float* inputs, const Tiling& tiling, int64_t first_tile,
              int64_t last_tile, int64_t panel, WorkerArea& area) {
  const Weight& weight = *args.weight;
  const int64_t num_cols = weight.cols();
  const int64_t k_per_dword = KPerDword(DTypeOf<T>());
  const auto* dwords =
      static_cast<const uint32_t*>(weight.data()) + panel * PanelDwords(num_cols, DTypeOf<T>());
  const int64_t first_row = tiling.First(first_tile);
  const int64_t passes = last_tile - first_tile;
  const bool widen = !std::is_same_v<T, float> && passes >= kMinWidenPasses;
  const int64_t step = passes > 1 ? kBlockK : kStreamK;
  for (int64_t k = 0; k < num_cols; k += step) {
    const int64_t k_count = std::min(step, num_cols - k);
    const uint32_t* source = dwords + k / k_per_dword * kPanel;
    const uint32_t* next = source + step / k_per_dword * kPanel;
    if constexpr (!std::is_same_v<T, float>) {
      if (widen) WidenBlock<T>(source, k_count, area.block);
    }
    for (int64_t tile = first_tile; tile < last_tile; ++tile) {
      if (passes > 1) PrefetchPart(next, step / k_per_dword * 2, tile - first_tile, passes);
      const int64_t row = tiling.First(tile);
      const int height = tiling.Height(tile);
      const float* a = inputs + row * num_cols + k * height;
      float* sums = area.sums + (row - first_row) * kPanel;
      WithTileRows(height, [&](auto rows) HWY_ATTR {
        constexpr int kRows = decltype(rows)::value;
        if (widen) {
          AddTile<float, kRows>(a, reinterpret_cast<const uint32_t*>(area.block), k_count, k == 0,
                                nullptr, sums);
        } else {
          AddTile<T, kRows>(a, source, k_count, k == 0,
                            passes > 1 ? nullptr : source + kPrefetchDwords, sums);
        }
      });
    }
  }
  const int64_t first_out = panel * kPanel;
  const int64_t count = std::min(kPanel, weight.rows() - first_out);
  for (int64_t row = first_row; row < tiling.First(last_tile); ++row) {
    WriteRow(args, area.sums + (row - first_row) * kPanel, row, first_out, count);
  }
}

template <class T>
void RunLinear(const ExecContext& ctx, const LinearArgs& args) {
  const int64_t num_rows = args.x.dim(0);
  const int64_t num_cols = args.weight->cols();
  const Tiling tiling(num_rows);
  const size_t input_bytes = AlignUp(static_cast<size_t>(num_rows * num_cols) * sizeof(float));
  const auto workers = static_cast<size_t>(ctx.pool->num_threads());
  std::byte* scratch = ctx.scratch.Take(input_bytes + workers * sizeof(WorkerArea));
  auto* const inputs = reinterpret_cast<float*>(scratch);
  auto* const areas = reinterpret_cast<WorkerArea*>(scratch + input_bytes);

  const auto convert = [&](int64_t tile, int) HWY_ATTR {
    const int64_t row = tiling.First(tile);
    const int height = tiling.Height(tile);
    for (int r = 0; r < height; ++r) {
      PackTileRow(args.x.Row<T>(row + r), static_cast<size_t>(num_cols),
                  static_cast<size_t>(height), inputs + row * num_cols + r);
    }
  };
  if (num_rows * num_cols < kMinSharedConversion) {
    for (int64_t tile = 0; tile < tiling.count(); ++tile) convert(tile, 0);
  } else {
    ctx.pool->Run(tiling.count(), convert);
  }

  const int64_t block_tiles = std::min(tiling.count(), kMaxBlockRows / kTileMaxRows);
  const int64_t blocks = (tiling.count() + block_tiles - 1) / block_tiles;
  const int64_t panels = NumPanels(args.weight->rows());
  const int64_t panel_work = num_cols * std::min(num_rows, kMaxBlockRows);
  const int64_t task_panels = std::max<int64_t>(1, kMinTaskWork / panel_work);
  const int64_t groups = (panels + task_panels - 1) / task_panels;
  // Panels innermost: threads share the rows of a block in the last-level cache.
  ctx.pool->Run(blocks * groups, [&](int64_t task, int worker) HWY_ATTR {
    const int64_t first_tile = task / groups * block_tiles;
    const int64_t last_tile = std::min(first_tile + block_tiles, tiling.count());
    const int64_t first_panel = task % groups * task_panels;
    for (int64_t panel = first_panel; panel < std::min(first_panel + task_panels, panels);
         ++panel) {
      RunPanel<T>(args, inputs, tiling, first_tile, last_tile, panel, areas[worker]);
    }
  });
}

}  // namespace

void RunLinearF32(const ExecContext& ctx, const LinearArgs& args) { RunLinear<float>(ctx, args); }
void RunLinearF16(const ExecContext& ctx, const LinearArgs& args) { RunLinear<F16>(ctx, args); }
void RunLinearBf16(const ExecContext& ctx, const LinearArgs& args) { RunLinear<Bf16>(ctx, args); }

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {

HWY_EXPORT(RunLinearF32);
HWY_EXPORT(RunLinearF16);
HWY_EXPORT(RunLinearBf16);

void LinearCpu(const ExecContext& ctx, const LinearArgs& args) {
  switch (args.weight->dtype()) {
    case DType::kF16:
      return HWY_DYNAMIC_DISPATCH(RunLinearF16)(ctx, args);
    case DType::kBf16:
      return HWY_DYNAMIC_DISPATCH(RunLinearBf16)(ctx, args);
    default:
      return HWY_DYNAMIC_DISPATCH(RunLinearF32)(ctx, args);
  }
}

size_t LinearScratchBytes(int64_t max_rows, int64_t max_cols, int num_threads) {
  return AlignUp(static_cast<size_t>(max_rows * max_cols) * sizeof(float)) +
         static_cast<size_t>(num_threads) * sizeof(WorkerArea);
}

}  // namespace gdn
#endif  // HWY_ONCE
