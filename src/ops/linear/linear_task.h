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
// Floats that are widened at once: 16 KiB, half of the smallest first-level cache.
constexpr int64_t kBlockFloats = 4096;
constexpr int64_t kMaxBlockK = 256;
// Tiles that pass over a widened block before the next: their inputs of a range of k (up to 192
// KiB) and their sums stay in the second-level cache, and the widening is 1% of the work.
constexpr int64_t kMaxBlockTiles = 24;
// Panels of a task: they share the inputs of a range of k.
constexpr int kMaxTaskPanels = 2;
// k of a panel that few tiles take at once, and that one takes alone: what the first pass brings
// in, 16 KiB at most, is still in the first-level cache for the next.
constexpr int64_t kSharedK = 128;
constexpr int64_t kStreamK = 256;
// Multiply-adds times 32 that make a task worth its hand-over, a few microseconds.
constexpr int64_t kMinTaskWork = 1024;
// Elements of x that the caller converts alone, sooner than another thread would have woken.
constexpr int64_t kMinSharedConversion = 32768;
// Tiles from which on a widened copy of a block costs less than widening in each of them (Zen 3,
// bf16: at 2 tiles 8-12% slower, at 3 even).
constexpr int64_t kMinWidenPasses = 4;
// How far ahead of a stream of weights a single tile fetches: 2 KiB.
constexpr int64_t kPrefetchDwords = 512;

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
};

// A worker's part of ctx.scratch.
struct WorkerArea {
  alignas(64) std::array<float, kBlockFloats> block;
  alignas(64)
      std::array<float, kMaxTaskPanels * kMaxBlockTiles * kMaxTileRows * Weight::kPanelRows> sums;

  // Sums between two ranges of k, [rows of the task, 32].
  float* Sums(int panel) {
    return sums.data() + panel * kMaxBlockTiles * kMaxTileRows * Weight::kPanelRows;
  }
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
