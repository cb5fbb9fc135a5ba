// SPDX-License-Identifier: Apache-2.0
// Flash-style attention: one task is a kv head and a run of tokens of one sequence, with all query
// heads of the group, so that a block of 64 keys is widened (and K transposed) once for them all.
// Lanes run over keys for the scores and over head_dim for the sum; both ascend through one
// accumulator a value, so that no vector width and no neighbouring row changes a bit.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention/attention_cpu.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "ops/attention/attention_kernels.h"
#include "ops/common/fma_tile-inl.h"

#ifndef GDN_OPS_ATTENTION_ATTENTION_CPU_ONCE_
#define GDN_OPS_ATTENTION_ATTENTION_CPU_ONCE_
namespace gdn {
namespace {

// Query rows that share the widening of a block: enough to hide it, and the task's scratch (276 KiB
// at head_dim 256) fits a second-level cache of 512 KiB.
constexpr int64_t kTaskRows = 64;

constexpr int64_t PadCols(int64_t cols) { return (cols + 31) / 32 * 32; }

// One worker's part of ctx.scratch.
class WorkerArea {
 public:
  WorkerArea(float* memory, int64_t max_rows, int64_t head_dim) {
    const std::array<float**, kParts> parts = {&keys,   &values, &queries, &sums,
                                               &scores, &maxima, &weights, &alphas};
    const std::array<int64_t, kParts> sizes = Sizes(max_rows, head_dim);
    for (size_t i = 0; i < kParts; ++i) {
      *parts[i] = memory;
      memory += sizes[i];
    }
  }
  static int64_t Floats(int64_t max_rows, int64_t head_dim) {
    int64_t total = 0;
    for (const int64_t size : Sizes(max_rows, head_dim)) total += size;
    return total;
  }

  // Right-hand sides of the tiles, in panels of 32 columns: a tile's lines then lie side by side.
  float* keys;     // [64 / 32, padded head_dim, 32] of a block
  float* values;   // [padded head_dim / 32, 64, 32] of a block
  float* queries;  // tiles of rows, each [head_dim, rows of the tile]
  float* sums;     // [rows, padded head_dim] of p v, relative to exp(maximum)
  float* scores;   // [rows, 64]: q k, then p
  float* maxima;   // [rows] greatest score so far
  float* weights;  // [rows] sum of p so far
  float* alphas;   // [rows] what the last block multiplied the sums by

 private:
  static constexpr size_t kParts = 8;

  // All multiples of a cache line.
  static std::array<int64_t, kParts> Sizes(int64_t max_rows, int64_t head_dim) {
    const int64_t rows = PadCols(max_rows);
    const int64_t cols = PadCols(head_dim);
    return {cols * kKvBlockSize,
            kKvBlockSize * cols,
            rows * cols,
            rows * cols,
            rows * kKvBlockSize,
            rows,
            rows,
            rows};
  }
};

// A run of tokens of one sequence and one kv head. Row i is token first + i / group, query head
// kv_head * group + i % group: positions ascend with rows.
struct Task {
  int64_t seq;
  int64_t first;
  int64_t num_tokens;
  int64_t kv_head;
};

int64_t TaskTokens(int64_t group) { return std::max<int64_t>(1, kTaskRows / group); }

int64_t NumRuns(const PagedIndex& index, size_t seq, int64_t task_tokens) {
  return (index.cu_seqlens[seq + 1] - index.cu_seqlens[seq] + task_tokens - 1) / task_tokens;
}

Task TaskAt(const PagedIndex& index, int64_t number, int64_t num_kv_heads, int64_t task_tokens) {
  int64_t run = number / num_kv_heads;
  size_t seq = 0;
  for (; run >= NumRuns(index, seq, task_tokens); ++seq) run -= NumRuns(index, seq, task_tokens);
  const int64_t first = index.cu_seqlens[seq] + run * task_tokens;
  return {static_cast<int64_t>(seq), first,
          std::min(task_tokens, index.cu_seqlens[seq + 1] - first), number % num_kv_heads};
}

}  // namespace
}  // namespace gdn
#endif  // GDN_OPS_ATTENTION_ATTENTION_CPU_ONCE_

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {
namespace {

// Block b of 4 lanes goes to out + b * stride.
template <class D>
HWY_INLINE void StoreBlocks(D d, hn::Vec<D> v, float* out, size_t stride) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    hn::StoreU(v, d, out);
  } else {
    const hn::Half<D> half;
    StoreBlocks(half, hn::LowerHalf(half, v), out, stride);
    StoreBlocks(half, hn::UpperHalf(half, v), out + hn::MaxLanes(half) / 4 * stride, stride);
  }
}

// 64 rows of keys as f32, transposed.
template <class T>
void TransposeKeys(const T* HWY_RESTRICT rows, int64_t head_dim, float* HWY_RESTRICT keys) {
  constexpr size_t kStride = kTileCols;
  const int64_t panel = PadCols(head_dim) * kTileCols;
  const DF df;
  const hn::Repartition<uint64_t, DF> d64;
  const auto low = [d64, df](VF a, VF b) HWY_ATTR {
    return hn::BitCast(df, hn::InterleaveLower(d64, hn::BitCast(d64, a), hn::BitCast(d64, b)));
  };
  const auto high = [d64, df](VF a, VF b) HWY_ATTR {
    return hn::BitCast(df, hn::InterleaveUpper(d64, hn::BitCast(d64, a), hn::BitCast(d64, b)));
  };
  ForEachVec(static_cast<size_t>(head_dim), [&](size_t d, size_t n) HWY_ATTR {
    const T* row = rows + d;
    for (int64_t j = 0; j < kKvBlockSize; j += 4, row += 4 * head_dim) {
      const VF x0 = LoadVecAny(row, n);
      const VF x1 = LoadVecAny(row + head_dim, n);
      const VF x2 = LoadVecAny(row + 2 * head_dim, n);
      const VF x3 = LoadVecAny(row + 3 * head_dim, n);
      const VF low01 = hn::InterleaveLower(df, x0, x1);
      const VF low23 = hn::InterleaveLower(df, x2, x3);
      const VF high01 = hn::InterleaveUpper(df, x0, x1);
      const VF high23 = hn::InterleaveUpper(df, x2, x3);
      float* out = keys + j / kTileCols * panel + d * kStride + j % kTileCols;
      StoreBlocks(df, low(low01, low23), out, 4 * kStride);
      StoreBlocks(df, high(low01, low23), out + kStride, 4 * kStride);
      StoreBlocks(df, low(high01, high23), out + 2 * kStride, 4 * kStride);
      StoreBlocks(df, high(high01, high23), out + 3 * kStride, 4 * kStride);
    }
  });
}

// count rows of values as f32, zeros past head_dim.
template <class T>
void WidenValues(const T* HWY_RESTRICT rows, int64_t count, int64_t head_dim,
                 float* HWY_RESTRICT values) {
  const int64_t padded = PadCols(head_dim);
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t d = 0; d < padded; d += kTileLanes) {
      const int64_t n = std::clamp<int64_t>(head_dim - d, 0, kTileLanes);
      hn::StoreU(LoadVecAny(rows + j * head_dim + d, static_cast<size_t>(n)), DF(),
                 values + (d / kTileCols * kKvBlockSize + j) * kTileCols + d % kTileCols);
    }
  }
}

// The sum of 64 values in an order that no vector width changes: 16 partial sums, then a tree.
HWY_INLINE float SumBlock(const float* p) {
  constexpr int kParts = 16;
  static_assert(kTileLanes <= kParts);
  HWY_ALIGN float parts[kParts];
  for (int i = 0; i < kParts; i += kTileLanes) {
    VF part = hn::LoadU(DF(), p + i);
    for (int j = kParts; j < kKvBlockSize; j += kParts) {
      part = hn::Add(part, hn::LoadU(DF(), p + j + i));
    }
    hn::Store(part, DF(), parts + i);
  }
  for (int width = kParts / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) parts[i] += parts[i + width];
  }
  return parts[0];
}

// Scores q k of the first valid keys of a block to p relative to the new maximum; the rest to zero.
HWY_INLINE void SoftmaxRow(float* scores, int64_t valid, float scale, float& maximum, float& weight,
                           float& alpha) {
  const DF df;
  const auto in_range = [df, valid](int64_t j) HWY_ATTR {
    return hn::FirstN(df, static_cast<size_t>(std::clamp<int64_t>(valid - j, 0, kTileLanes)));
  };
  const VF none = hn::Set(df, -std::numeric_limits<float>::infinity());
  VF greatest = hn::Set(df, maximum);
  for (int64_t j = 0; j < kKvBlockSize; j += kTileLanes) {
    const VF score =
        hn::IfThenElse(in_range(j), hn::Mul(hn::LoadU(df, scores + j), hn::Set(df, scale)), none);
    hn::StoreU(score, df, scores + j);
    greatest = hn::Max(greatest, score);
  }
  const float before = maximum;
  maximum = hn::GetLane(hn::MaxOfLanes(df, greatest));
  const VF shift = hn::Set(df, maximum);
  for (int64_t j = 0; j < kKvBlockSize; j += kTileLanes) {
    const VF p = ExpVec(hn::Sub(hn::LoadU(df, scores + j), shift));
    hn::StoreU(hn::IfThenElseZero(in_range(j), p), df, scores + j);
  }
  alpha = hn::GetLane(ExpVec(hn::Sub(hn::Set(df, before), shift)));
  weight = weight * alpha + SumBlock(scores);
}

// scores [kRows, 64] = q k
template <int kRows>
void ScoreTile(const float* queries, const WorkerArea& area, int64_t head_dim, float* scores) {
  constexpr int kVecs = TileVecs(kRows);
  const int64_t panel = PadCols(head_dim) * kTileCols;
  for (int64_t j = 0; j < kKvBlockSize; j += kVecs * kTileLanes) {
    TileAccs<kRows, kVecs> acc;
    ZeroTile(acc);
    FmaTile<kRows, kVecs>(queries, kRows, 1, area.keys + j / kTileCols * panel + j % kTileCols,
                          kTileCols, static_cast<size_t>(head_dim), acc);
    StoreTile(acc, scores + j, kKvBlockSize);
  }
}

// sums = sums * alpha + p v over keys [first, last); alphas null for no factor.
template <int kRows>
void ValueTile(const float* p, const float* alphas, int64_t first, int64_t last,
               const WorkerArea& area, int64_t head_dim, float* sums) {
  constexpr int kVecs = TileVecs(kRows);
  const int64_t padded = PadCols(head_dim);
  for (int64_t d = 0; d < padded; d += kVecs * kTileLanes) {
    TileAccs<kRows, kVecs> acc;
    LoadTile(sums + d, static_cast<size_t>(padded), acc);
    if (alphas != nullptr) ScaleTile(alphas, acc);
    FmaTile<kRows, kVecs>(
        p + first, 1, kKvBlockSize,

        area.values + (d / kTileCols * kKvBlockSize + first) * kTileCols + d % kTileCols, kTileCols,
        static_cast<size_t>(last - first), acc);
    StoreTile(acc, sums + d, static_cast<size_t>(padded));
  }
}

// One tile of rows against one block of keys; valid[r] keys of it are row r's.
template <int kRows>
void AddBlock(const WorkerArea& area, int64_t row, const std::array<int64_t, kTileMaxRows>& valid,
              float scale, int64_t head_dim) {
  float* const scores = area.scores + row * kKvBlockSize;
  float* const sums = area.sums + row * PadCols(head_dim);
  ScoreTile<kRows>(area.queries + row * head_dim, area, head_dim, scores);
  for (int r = 0; r < kRows; ++r) {
    if (valid[static_cast<size_t>(r)] > 0) {
      SoftmaxRow(scores + r * kKvBlockSize, valid[static_cast<size_t>(r)], scale,
                 area.maxima[row + r], area.weights[row + r], area.alphas[row + r]);
    }
  }
  // Keys of all rows together, those past the first row's position row by row: p = 0 would not keep
  // a later token's infinities out.
  const int64_t common = valid[0];
  if (common > 0) ValueTile<kRows>(scores, area.alphas + row, 0, common, area, head_dim, sums);
  for (int r = 0; r < kRows; ++r) {
    if (valid[static_cast<size_t>(r)] > common) {
      ValueTile<1>(scores + r * kKvBlockSize, common > 0 ? nullptr : area.alphas + row + r, common,
                   valid[static_cast<size_t>(r)], area, head_dim, sums + r * PadCols(head_dim));
    }
  }
}

template <class T>
void StartRows(const AttentionArgs& args, const Task& task, const RowTiling& tiling, int64_t group,
               const WorkerArea& area) {
  const int64_t head_dim = args.q.dim(2);
  const int64_t num_rows = task.num_tokens * group;
  for (int64_t tile = 0; tile < tiling.count; ++tile) {
    const int64_t first = tiling.First(tile);
    const int height = tiling.Height(tile);
    for (int64_t row = first; row < first + height; ++row) {
      const T* q = args.q.Row<T>(task.first + row / group) +
                   (task.kv_head * group + row % group) * args.q.stride(1);
      PackTileRow(q, static_cast<size_t>(head_dim), static_cast<size_t>(height),
                  area.queries + first * head_dim + (row - first));
    }
  }
  std::fill_n(area.sums, num_rows * PadCols(head_dim), 0.0F);
  std::fill_n(area.weights, num_rows, 0.0F);
  std::fill_n(area.maxima, num_rows, -std::numeric_limits<float>::infinity());
}

template <class T>
void WriteRows(const AttentionArgs& args, const Task& task, int64_t group, const WorkerArea& area) {
  const int64_t head_dim = args.q.dim(2);
  for (int64_t row = 0; row < task.num_tokens * group; ++row) {
    T* out =
        args.out.Row<T>(task.first + row / group) + (task.kv_head * group + row % group) * head_dim;
    const float* sums = area.sums + row * PadCols(head_dim);
    const VF weight = hn::Set(DF(), area.weights[row]);
    ForEachVec(static_cast<size_t>(head_dim), [&](size_t d, size_t n) HWY_ATTR {
      StoreVecAny(hn::Div(hn::LoadU(DF(), sums + d), weight), out + d, n);
    });
  }
}

template <class T>
void RunTask(const AttentionArgs& args, const Task& task, int64_t group, const WorkerArea& area) {
  const int64_t head_dim = args.q.dim(2);
  const int32_t* positions = args.index.positions.data() + task.first;
  const int64_t last = positions[task.num_tokens - 1];
  const RowTiling tiling = TilingOf(task.num_tokens * group);
  StartRows<T>(args, task, tiling, group, area);
  for (int64_t key = 0; key <= last; key += kKvBlockSize) {
    const int64_t offset = KvOffset(args.cache, args.index, task.seq, key, task.kv_head);
    TransposeKeys(args.cache.k.As<T>() + offset, head_dim, area.keys);
    WidenValues(args.cache.v.As<T>() + offset, std::min(kKvBlockSize, last + 1 - key), head_dim,
                area.values);
    for (int64_t tile = 0; tile < tiling.count; ++tile) {
      const int64_t row = tiling.First(tile);
      const int height = tiling.Height(tile);
      std::array<int64_t, kTileMaxRows> valid{};
      for (int r = 0; r < height; ++r) {
        valid[static_cast<size_t>(r)] =
            std::clamp<int64_t>(positions[(row + r) / group] + 1 - key, 0, kKvBlockSize);
      }
      if (valid[static_cast<size_t>(height) - 1] == 0) continue;
      WithTileRows(height, [&](auto rows) HWY_ATTR {
        AddBlock<decltype(rows)::value>(area, row, valid, args.scale, head_dim);
      });
    }
  }
  WriteRows<T>(args, task, group, area);
}

template <class T>
void RunAttention(const ExecContext& ctx, const AttentionArgs& args) {
  const PagedIndex& index = args.index;
  const int64_t num_kv_heads = args.cache.k.dim(1);
  const int64_t group = args.q.dim(1) / num_kv_heads;
  const int64_t head_dim = args.q.dim(2);
  const int64_t task_tokens = TaskTokens(group);
  const int64_t max_rows = task_tokens * group;
  const int64_t area_floats = WorkerArea::Floats(max_rows, head_dim);
  const auto num_threads = static_cast<int64_t>(ctx.pool->num_threads());
  auto* const scratch = reinterpret_cast<float*>(
      ctx.scratch.Take(static_cast<size_t>(num_threads * area_floats) * sizeof(float)));
  int64_t tasks = 0;
  for (size_t n = 0; n + 1 < index.cu_seqlens.size(); ++n) {
    tasks += NumRuns(index, n, task_tokens) * num_kv_heads;
  }
  ctx.pool->Run(tasks, [&](int64_t number, int worker) {
    const WorkerArea area(scratch + worker * area_floats, max_rows, head_dim);
    // Last runs first: they have the most keys, and what remains at the end should be short.
    RunTask<T>(args, TaskAt(index, tasks - 1 - number, num_kv_heads, task_tokens), group, area);
  });
}

}  // namespace

void RunAttentionF32(const ExecContext& ctx, const AttentionArgs& args) {
  RunAttention<float>(ctx, args);
}
void RunAttentionF16(const ExecContext& ctx, const AttentionArgs& args) {
  RunAttention<F16>(ctx, args);
}
void RunAttentionBf16(const ExecContext& ctx, const AttentionArgs& args) {
  RunAttention<Bf16>(ctx, args);
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {

HWY_EXPORT(RunAttentionF32);
HWY_EXPORT(RunAttentionF16);
HWY_EXPORT(RunAttentionBf16);

void AttentionCpu(const ExecContext& ctx, const AttentionArgs& args) {
  switch (args.q.dtype) {
    case DType::kF16:
      return HWY_DYNAMIC_DISPATCH(RunAttentionF16)(ctx, args);
    case DType::kBf16:
      return HWY_DYNAMIC_DISPATCH(RunAttentionBf16)(ctx, args);
    default:
      return HWY_DYNAMIC_DISPATCH(RunAttentionF32)(ctx, args);
  }
}

size_t AttentionScratchBytes(int64_t num_heads, int64_t head_dim, int num_threads) {
  const int64_t floats = WorkerArea::Floats(std::max(kTaskRows, num_heads), head_dim);
  return static_cast<size_t>(num_threads) * static_cast<size_t>(floats) * sizeof(float);
}

}  // namespace gdn
#endif  // HWY_ONCE
