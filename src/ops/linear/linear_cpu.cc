// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/linear/linear_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/linear/linear_kernels.h"
#include "ops/linear/linear_panels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {
namespace {

// Calls body(first lane, column, columns that the output has) for each vector of a panel.
template <class Body>
HWY_INLINE void ForEachOut(int64_t num_outs, int64_t first, const Body& body) {
  for (int64_t lane = 0; lane < kPanel; lane += kTileLanes) {
    const int64_t left = std::min<int64_t>(kTileLanes, num_outs - first - lane);
    if (left > 0) body(lane, first + lane, static_cast<size_t>(left));
  }
}

// Rounds to R, writes as Out.
template <class R, class Out>
struct Rounded {
  const LinearInputs& in;
  const Tensor& out;
  int64_t first_out;  // of the task's panel

  void operator()(int64_t tile, int /*panel*/, const float* sums) const {
    const int64_t first_row = in.tiling.First(tile);
    const int height = in.tiling.Height(tile);
    for (int r = 0; r < height; ++r) {
      Out* to = out.Row<Out>(first_row + r);
      const float* from = sums + r * kPanel;
      ForEachOut(out.dim(1), first_out, [&](int64_t lane, int64_t col, size_t n) HWY_ATTR {
        StoreVecAny(RoundVec<R>(LoadVec(from + lane)), to + col, n);
      });
    }
  }
};

// Panel 0 is the gate and waits in its totals for panel 1, the values that it multiplies.
template <class T>
struct SiluTimes {
  const LinearInputs& in;
  const Tensor& out;
  int64_t first_out;
  int64_t first_row;   // of the task
  const float* gates;  // totals of panel 0

  void operator()(int64_t tile, int panel, const float* sums) const {
    if (panel == 0) return;
    const int64_t tile_row = in.tiling.First(tile);
    const int height = in.tiling.Height(tile);
    for (int r = 0; r < height; ++r) {
      const float* gate = gates + (tile_row - first_row + r) * kPanel;
      const float* up = sums + r * kPanel;
      T* to = out.Row<T>(tile_row + r);
      ForEachOut(out.dim(1), first_out, [&](int64_t lane, int64_t col, size_t n) HWY_ATTR {
        const VF silu = RoundVec<T>(SiluVec(RoundVec<T>(LoadVec(gate + lane))));
        StoreVecAny(hn::Mul(silu, RoundVec<T>(LoadVec(up + lane))), to + col, n);
      });
    }
  }
};

// Converts x, then calls run(in, tiles of a block, unit, next, area) for each block of rows and
// unit of unit_panels panels; next is the unit that the same thread is likely to take afterwards.
template <class T, class Run>
void ForEachUnit(const ExecContext& ctx, const ConstTensor& x, int64_t num_units,
                 int64_t unit_panels, const Run& run) {
  const int64_t num_rows = x.dim(0);
  const int64_t num_cols = x.dim(1);
  const RowTiling tiling = TilingOf(num_rows);
  const LinearScratch scratch(ctx, num_rows, num_cols);
  const LinearInputs in = {x, tiling, scratch.inputs};
  const auto pack = [&](int64_t tile, int /*worker*/) HWY_ATTR { PackTile<T>(in, tile); };
  if (num_rows * num_cols < kMinSharedConversion) {
    for (int64_t tile = 0; tile < tiling.count; ++tile) pack(tile, 0);
  } else {
    ctx.pool->Run(tiling.count, pack);
  }
  const int64_t blocks = (tiling.count + kMaxBlockTiles - 1) / kMaxBlockTiles;
  const int64_t unit_work = unit_panels * num_cols * (num_rows / blocks);
  const int64_t group_units = std::max<int64_t>(1, kMinTaskWork / unit_work);
  const int64_t groups = (num_units + group_units - 1) / group_units;
  // Units innermost: threads share the rows of a block in the last-level cache.
  ctx.pool->Run(blocks * groups, [&](int64_t task, int worker) HWY_ATTR {
    const int64_t block = task / groups;
    const TileRange tiles = {block * tiling.count / blocks, (block + 1) * tiling.count / blocks};
    const int64_t first = task % groups * group_units;
    const int64_t last = std::min(first + group_units, num_units);
    // With even tasks the threads take turns. A wrong guess costs time alone.
    const int64_t then =
        std::min((task + ctx.pool->num_threads()) % groups * group_units, num_units - 1);
    for (int64_t unit = first; unit < last; ++unit) {
      run(in, tiles, unit, unit + 1 < last ? unit + 1 : then, scratch.areas[worker]);
    }
  });
}

template <class T>
const uint32_t* PanelOf(const Weight& weight, int64_t panel) {
  return static_cast<const uint32_t*>(weight.data()) +
         panel * PanelDwords(weight.cols(), DTypeOf<T>());
}

template <class T, class R, class Out>
void RunLinearAs(const ExecContext& ctx, const LinearArgs& args) {
  ForEachUnit<T>(ctx, args.x, NumPanels(args.weight->rows()), 1,
                 [&](const LinearInputs& in, const TileRange& tiles, int64_t panel, int64_t next,
                     WorkerArea& area) HWY_ATTR {
                   const PanelTask task = {
                       tiles, {PanelOf<T>(*args.weight, panel)}, 1, PanelOf<T>(*args.weight, next)};
                   RunPanels<T>(in, task, area, Rounded<R, Out>{in, args.out, panel * kPanel});
                 });
}

template <class T>
void RunLinear(const ExecContext& ctx, const LinearArgs& args) {
  if (args.round_to == DType::kF32) return RunLinearAs<T, float, float>(ctx, args);
  if (args.out.dtype == DType::kF32) return RunLinearAs<T, T, float>(ctx, args);
  RunLinearAs<T, T, T>(ctx, args);
}

template <class T>
void RunSiluAndMul(const ExecContext& ctx, const LinearSiluAndMulArgs& args) {
  ForEachUnit<T>(ctx, args.x, NumPanels(args.gate->rows()), 2,
                 [&](const LinearInputs& in, const TileRange& tiles, int64_t panel, int64_t next,
                     WorkerArea& area) HWY_ATTR {
                   const PanelTask task = {
                       tiles,
                       {PanelOf<T>(*args.gate, panel), PanelOf<T>(*args.up, panel)},
                       2,
                       PanelOf<T>(*args.gate, next)};
                   const SiluTimes<T> finish = {in, args.out, panel * kPanel,
                                                in.tiling.First(tiles.first), area.Totals(0)};
                   RunPanels<T>(in, task, area, finish);
                 });
}

}  // namespace

void RunLinearF32(const ExecContext& ctx, const LinearArgs& args) { RunLinear<float>(ctx, args); }
void RunLinearF16(const ExecContext& ctx, const LinearArgs& args) { RunLinear<F16>(ctx, args); }
void RunLinearBf16(const ExecContext& ctx, const LinearArgs& args) { RunLinear<Bf16>(ctx, args); }

void RunSiluF32(const ExecContext& ctx, const LinearSiluAndMulArgs& args) {
  RunSiluAndMul<float>(ctx, args);
}
void RunSiluF16(const ExecContext& ctx, const LinearSiluAndMulArgs& args) {
  RunSiluAndMul<F16>(ctx, args);
}
void RunSiluBf16(const ExecContext& ctx, const LinearSiluAndMulArgs& args) {
  RunSiluAndMul<Bf16>(ctx, args);
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {

HWY_EXPORT(RunLinearF32);
HWY_EXPORT(RunLinearF16);
HWY_EXPORT(RunLinearBf16);
HWY_EXPORT(RunSiluF32);
HWY_EXPORT(RunSiluF16);
HWY_EXPORT(RunSiluBf16);

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

void LinearSiluAndMulCpu(const ExecContext& ctx, const LinearSiluAndMulArgs& args) {
  switch (args.gate->dtype()) {
    case DType::kF16:
      return HWY_DYNAMIC_DISPATCH(RunSiluF16)(ctx, args);
    case DType::kBf16:
      return HWY_DYNAMIC_DISPATCH(RunSiluBf16)(ctx, args);
    default:
      return HWY_DYNAMIC_DISPATCH(RunSiluF32)(ctx, args);
  }
}

size_t LinearScratchBytes(int64_t max_rows, int64_t max_cols, int num_threads) {
  return LinearScratch::InputBytes(max_rows, max_cols) +
         static_cast<size_t>(num_threads) * sizeof(WorkerArea);
}

}  // namespace gdn
#endif  // HWY_ONCE
