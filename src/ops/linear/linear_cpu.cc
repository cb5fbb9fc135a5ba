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

// Calls body(first lane, column, columns that the output has) for each vector of a tile.
template <int kVecs, class Body>
HWY_INLINE void ForEachOut(int64_t num_outs, int64_t first, const Body& body) {
  HWY_UNROLL(8)
  for (int v = 0; v < kVecs; ++v) {
    const int64_t out = first + v * kTileLanes;
    const int64_t left = std::min<int64_t>(kTileLanes, num_outs - out);
    if (left > 0) body(v, out, static_cast<size_t>(left));
  }
}

// Rounds to R, writes as Out.
template <class R, class Out>
struct Rounded {
  const LinearInputs& in;
  const Tensor& out;
  int64_t first_out;  // of the task's first panel

  template <int kRows, int kVecs>
  HWY_INLINE void operator()(const TileAt& at, const TileAccs<kRows, kVecs>& acc,
                             float* /*sums*/) const {
    const int64_t row = in.tiling.First(at.tile);
    ForEachOut<kVecs>(out.dim(1), first_out + at.panel * kPanel + at.col,
                      [&](int v, int64_t col, size_t n) HWY_ATTR {
                        HWY_UNROLL(8)
                        for (int r = 0; r < kRows; ++r) {
                          StoreVecAny(RoundVec<R>(acc.v[r][v]), out.Row<Out>(row + r) + col, n);
                        }
                      });
  }
};

// Panel 0 is the gate and waits in the sums for panel 1, the values that it multiplies.
template <class T>
struct SiluTimes {
  const LinearInputs& in;
  const Tensor& out;
  int64_t first_out;
  int64_t first_row;   // of the task
  const float* gates;  // sums of panel 0

  template <int kRows, int kVecs>
  HWY_INLINE void operator()(const TileAt& at, const TileAccs<kRows, kVecs>& acc,
                             float* sums) const {
    StoreTile(acc, sums, kPanel);
    if (at.panel == 1) Multiply<kRows, kVecs>(at, sums);
  }

  // Not inlined: its constants would push accumulators out of the registers.
  template <int kRows, int kVecs>
  HWY_NOINLINE void Multiply(const TileAt& at, const float* ups) const {
    const int64_t row = in.tiling.First(at.tile);
    const float* gate = gates + (row - first_row) * kPanel + at.col;
    ForEachOut<kVecs>(out.dim(1), first_out + at.col, [&](int v, int64_t col, size_t n) HWY_ATTR {
      for (int r = 0; r < kRows; ++r) {
        const int64_t lane = r * kPanel + v * kTileLanes;
        const VF silu = RoundVec<T>(SiluVec(RoundVec<T>(LoadVec(gate + lane))));
        const VF value = hn::Mul(silu, RoundVec<T>(LoadVec(ups + lane)));
        StoreVecAny(value, out.Row<T>(row + r) + col, n);
      }
    });
  }
};

// Converts x, then calls run(in, tiles of a block, unit, area) for each block of rows and unit of
// unit_panels panels.
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
    for (int64_t unit = first; unit < std::min(first + group_units, num_units); ++unit) {
      run(in, tiles, unit, scratch.areas[worker]);
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
                 [&](const LinearInputs& in, const TileRange& tiles, int64_t panel,
                     WorkerArea& area) HWY_ATTR {
                   const PanelTask task = {tiles, {PanelOf<T>(*args.weight, panel)}, 1};
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
                 [&](const LinearInputs& in, const TileRange& tiles, int64_t panel,
                     WorkerArea& area) HWY_ATTR {
                   const PanelTask task = {
                       tiles, {PanelOf<T>(*args.gate, panel), PanelOf<T>(*args.up, panel)}, 2};
                   const SiluTimes<T> finish = {in, args.out, panel * kPanel,
                                                in.tiling.First(tiles.first), area.Sums(0)};
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
