// SPDX-License-Identifier: Apache-2.0
// What the panel kernels work on, the same for every vector target.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "ops/common/row_tiling.h"
#include "ops/linear/linear.h"
#include "ops/linear/weight_layout.h"

namespace gdn {

// Rows of the highest tile of any target.
constexpr int64_t kMaxTileRows = 8;
// Tiles that pass over a range of k before the next: their inputs of that range (up to 96 KiB) and
// their sums stay in the second-level cache.
constexpr int64_t kMaxBlockTiles = 24;
// Panels of a task: they share the inputs of a range of k.
constexpr int kMaxTaskPanels = 2;
// Rows of 32 dwords of a panel that tiles take at once, 8 KiB: beside the next ones, the inputs and
// the sums they have room in the first-level cache.
constexpr int64_t kSharedDwords = 64;
// The same where one pass takes all columns: only its sums, in and out of memory, are at stake.
constexpr int64_t kStreamDwords = 128;
// How far ahead such a pass fetches: 2 KiB.
constexpr int64_t kPrefetchDwords = 512;
// Multiply-adds times 32 that make a task worth its hand-over, a few microseconds.
constexpr int64_t kMinTaskWork = 1024;
// Elements of x that the caller converts alone, sooner than another thread would have woken.
constexpr int64_t kMinSharedConversion = 32768;
// Tiles [first, last).
struct TileRange {
  int64_t first, last;
  int64_t count() const { return last - first; }
};

// x, and its rows as f32, interleaved tile by tile.
struct LinearInputs {
  const ConstTensor& x;  // [M, K]
  RowTiling tiling;
  float* packed;

  float* Tile(int64_t tile) const { return packed + tiling.First(tile) * x.dim(1); }
  // The tile's first row, counted from that of a range.
  int64_t RowIn(const TileRange& tiles, int64_t tile) const {
    return tiling.First(tile) - tiling.First(tiles.first);
  }
};

// The part of the work that one thread does at once: tiles against panels.
struct PanelTask {
  TileRange tiles;
  std::array<const uint32_t*, kMaxTaskPanels> panels;
  int num_panels;
  // What the same thread is likely to take afterwards.
  const uint32_t* next;

  const uint32_t* After(int panel) const {
    return panel + 1 < num_panels ? panels[static_cast<size_t>(panel) + 1] : next;
  }
};

// A worker's part of ctx.scratch.
struct WorkerArea {
  static constexpr int64_t kFloats = kMaxBlockTiles * kMaxTileRows * Weight::kPanelRows;
  alignas(64) std::array<float, kMaxTaskPanels * kFloats> totals;
  alignas(64) std::array<float, kFloats> sums;

  // Of the slices of k before, [rows of the task, 32].
  float* Totals(int panel) { return totals.data() + panel * kFloats; }
  // Of a slice between two ranges of k, [rows of the task, 32].
  float* Sums() { return sums.data(); }
};

// ctx.scratch: x as f32, then an area for each worker.
struct LinearScratch {
  static size_t InputBytes(int64_t rows, int64_t cols) {
    return (static_cast<size_t>(rows * cols) * sizeof(float) + 63) / 64 * 64;
  }
  LinearScratch(const ExecContext& ctx, int64_t rows, int64_t cols) {
    const auto workers = static_cast<size_t>(ctx.pool->num_threads());
    const size_t input_bytes = InputBytes(rows, cols);
    std::byte* memory = ctx.scratch.Take(input_bytes + workers * sizeof(WorkerArea));
    inputs = reinterpret_cast<float*>(memory);
    areas = reinterpret_cast<WorkerArea*>(memory + input_bytes);
  }

  float* inputs;
  WorkerArea* areas;
};

}  // namespace gdn
