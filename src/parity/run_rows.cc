// SPDX-License-Identifier: Apache-2.0
// Golden cases of the convolution, the norms and the pointwise operators.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/str.h"
#include "ops/causal_conv1d/causal_conv1d.h"
#include "ops/rms_norm/rms_norm.h"
#include "ops/rms_norm_gated/rms_norm_gated.h"
#include "ops/rope/rope.h"
#include "ops/silu_and_mul/silu_and_mul.h"
#include "parity/golden_ops.h"

namespace gdn {
namespace {

// Bound the table: 256 MiB at the usual 64 rotary dims.
constexpr int32_t kMaxPosition = 1 << 20;
constexpr int64_t kMaxTableElements = int64_t{1} << 26;

Status CheckAbsent(const GoldenCase& golden, const char* arg) {
  if (!golden.HasArg(arg)) return OkStatus();
  return golden.Error(StrCat("args.", arg, " is set, want null"));
}

// [.., a, b] of 16 or 32 bit elements, the last two axes exchanged, in from's dtype.
Result<OwnedTensor> ExchangeLastTwo(Workbench& bench, const ConstTensor& from) {
  const int64_t rows = from.dim(0);
  const int64_t a = from.dim(1);
  const int64_t b = from.dim(2);
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(from.dtype, {rows, b, a}, bench.memory()));
  DispatchFloat(from.dtype, [&](auto t) {
    using T = decltype(t);
    for (int64_t n = 0; n < rows; ++n) {
      for (int64_t i = 0; i < a; ++i) {
        for (int64_t j = 0; j < b; ++j) {
          out.view.As<T>()[(n * b + j) * a + i] = from.As<T>()[(n * a + i) * b + j];
        }
      }
    }
  });
  return out;
}

// conv_state_in [slots, C, Kc - 1], oldest column first. Sequence n has row n, or that of
// state_indices; without those the pool has a null slot before them.
struct ConvCase {
  std::vector<int32_t> cu_seqlens;
  std::vector<uint8_t> has_initial_state;
};

Result<Outputs> RunConv(Workbench& bench, const GoldenCase& golden, const ConvCase& c) {
  GDN_RETURN_IF_ERROR(CheckAbsent(golden, "bias"));
  GDN_RETURN_IF_ERROR(WordOf(golden, "activation", {"silu", "swish"}).status());
  GDN_ASSIGN_OR_RETURN(const size_t product, WordOf(golden, "conv_product", {"rounded", "wide"}));
  CausalConv1dArgs args;
  GDN_ASSIGN_OR_RETURN(args.x, golden.Tensor("x", 2));
  GDN_ASSIGN_OR_RETURN(args.weight, golden.Tensor("weight", 2));
  GDN_ASSIGN_OR_RETURN(const ConstTensor state_in, golden.Tensor("conv_state_in", 3));
  if (!IsFloat(state_in.dtype)) return golden.Error("conv_state_in must be floats");
  GDN_ASSIGN_OR_RETURN(OwnedTensor state, ExchangeLastTwo(bench, state_in));
  std::vector<int32_t> slots(c.has_initial_state.size());
  const bool has_slots = golden.Has("state_indices");
  if (has_slots) {
    GDN_ASSIGN_OR_RETURN(slots, golden.Ints("state_indices"));
  } else {
    std::iota(slots.begin(), slots.end(), 1);
    GDN_ASSIGN_OR_RETURN(state, PoolFrom(state.view, state_in.dtype, bench.memory()));
  }
  args.state = state.view;
  args.cu_seqlens = c.cu_seqlens;
  args.state_slots = slots;
  args.has_initial_state = c.has_initial_state;
  args.product = product == 0 ? ConvProduct::kRounded : ConvProduct::kWide;
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(args.x.dtype, args.x.shape, bench.memory()));
  args.out = out.view;
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  GDN_RETURN_IF_ERROR(bench.Finish(CausalConv1d(ctx, args)));
  const int64_t first_slot = has_slots ? 0 : 1;
  GDN_ASSIGN_OR_RETURN(
      OwnedTensor state_out,
      ExchangeLastTwo(bench, state.view.Slice(first_slot, state.view.dim(0) - first_slot)));
  Outputs outputs;
  AddOutput(outputs, "out", std::move(out));
  AddOutput(outputs, "conv_state_out", std::move(state_out));
  return outputs;
}

// The norm's weight in f32, whatever its dtype in the golden.
Result<OwnedTensor> WeightOf(Workbench& bench, const GoldenCase& golden, const char* name) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor weight, golden.Tensor(name, 1));
  if (!IsFloat(weight.dtype)) return golden.Error(StrCat(name, " must be floats"));
  return ToF32(weight, bench.memory());
}

}  // namespace

Result<Outputs> RunConvFwd(Workbench& bench, const GoldenCase& golden) {
  ConvCase c;
  GDN_ASSIGN_OR_RETURN(c.cu_seqlens, golden.Ints("query_start_loc"));
  GDN_ASSIGN_OR_RETURN(const std::vector<int32_t> flags, golden.Ints("has_initial_state"));
  std::ranges::transform(flags, std::back_inserter(c.has_initial_state),
                         [](int32_t flag) { return static_cast<uint8_t>(flag != 0); });
  return RunConv(bench, golden, c);
}

Result<Outputs> RunConvUpdate(Workbench& bench, const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor x, golden.Tensor("x", 2));
  ConvCase c;
  c.cu_seqlens.resize(static_cast<size_t>(x.dim(0)) + 1);
  std::iota(c.cu_seqlens.begin(), c.cu_seqlens.end(), 0);
  c.has_initial_state.assign(static_cast<size_t>(x.dim(0)), 1);
  return RunConv(bench, golden, c);
}

Result<Outputs> RunRmsNorm(Workbench& bench, const GoldenCase& golden) {
  RmsNormArgs args;
  GDN_ASSIGN_OR_RETURN(args.x, golden.Tensor("x", 2));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor weight, WeightOf(bench, golden, "weight"));
  GDN_ASSIGN_OR_RETURN(const double eps, golden.NumberArg("eps"));
  GDN_ASSIGN_OR_RETURN(const bool gemma, golden.BoolArg("gemma"));
  args.weight = weight.view;
  args.eps = static_cast<float>(eps);
  args.style = gemma ? RmsNormStyle::kGemma : RmsNormStyle::kPlain;
  OwnedTensor residual;
  if (golden.Has("residual_in")) {
    GDN_ASSIGN_OR_RETURN(const ConstTensor residual_in, golden.Tensor("residual_in"));
    GDN_ASSIGN_OR_RETURN(residual, CopyOf(residual_in, bench.memory()));
    args.residual = residual.view;
  }
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(args.x.dtype, args.x.shape, bench.memory()));
  args.out = out.view;
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  GDN_RETURN_IF_ERROR(bench.Finish(RmsNorm(ctx, args)));
  Outputs outputs;
  AddOutput(outputs, "out", std::move(out));
  if (!args.residual.empty()) AddOutput(outputs, "residual_out", std::move(residual));
  return outputs;
}

Result<Outputs> RunRmsNormGated(Workbench& bench, const GoldenCase& golden) {
  RmsNormGatedArgs args;
  GDN_ASSIGN_OR_RETURN(args.x, golden.Tensor("x", 2));
  GDN_ASSIGN_OR_RETURN(args.gate, golden.Tensor("gate", 2));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor weight, WeightOf(bench, golden, "weight"));
  GDN_ASSIGN_OR_RETURN(const double eps, golden.NumberArg("eps"));
  GDN_ASSIGN_OR_RETURN(const size_t activation,
                       WordOf(golden, "activation", {"silu", "swish", "sigmoid"}));
  GDN_ASSIGN_OR_RETURN(const bool norm_first,
                       golden.BoolArg("norm_before_gate", /*fallback=*/true));
  if (!norm_first) return golden.Error("args.norm_before_gate is false, want true");
  GDN_RETURN_IF_ERROR(CheckAbsent(golden, "group_size"));
  args.weight = weight.view;
  args.eps = static_cast<float>(eps);
  args.activation = activation == 2 ? GateActivation::kSigmoid : GateActivation::kSilu;
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(args.x.dtype, args.x.shape, bench.memory()));
  args.out = out.view;
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  GDN_RETURN_IF_ERROR(bench.Finish(RmsNormGated(ctx, args)));
  Outputs outputs;
  AddOutput(outputs, "out", std::move(out));
  return outputs;
}

Result<OwnedTensor> RopeTableFor(Workbench& bench, const GoldenCase& golden,
                                 const std::vector<int32_t>& positions) {
  GDN_ASSIGN_OR_RETURN(const double base, golden.NumberArg("base"));
  GDN_ASSIGN_OR_RETURN(const int64_t rotary_dim, golden.IntArg("rotary_dim"));
  if (!(base > 0)) return golden.Error("args.base must be above 0");
  if (rotary_dim < 2 || rotary_dim > 512 || rotary_dim % 2 != 0) {
    return golden.Error(StrCat("args.rotary_dim is ", rotary_dim, ", want it even, in 2..512"));
  }
  int32_t last = 0;
  for (const int32_t position : positions) {
    if (position < 0 || position >= kMaxPosition) {
      return golden.Error(
          StrCat("positions holds ", position, ", want them in 0..", kMaxPosition - 1));
    }
    last = std::max(last, position);
  }
  if ((last + 1) * rotary_dim > kMaxTableElements) {
    return golden.Error(StrCat("positions up to ", last, " with rotary_dim ", rotary_dim,
                               ": want at most ", kMaxTableElements, " angles in all"));
  }
  GDN_ASSIGN_OR_RETURN(OwnedTensor table,
                       NewTensor(DType::kF32, {last + 1, rotary_dim}, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  FillRopeTable(ctx, base, table.view);
  return table;
}

Result<Outputs> RunRope(Workbench& bench, const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const std::vector<int32_t> positions, golden.Ints("positions"));
  GDN_ASSIGN_OR_RETURN(const OwnedTensor table, RopeTableFor(bench, golden, positions));
  GDN_ASSIGN_OR_RETURN(const int64_t head_size, golden.IntArg("head_size"));
  if (head_size < 1) return golden.Error("args.head_size must be above 0");
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  Outputs outputs;
  for (const auto& [in, out] : {std::pair{"q_in", "q_out"}, {"k_in", "k_out"}}) {
    GDN_ASSIGN_OR_RETURN(const ConstTensor x, golden.Tensor(in, 2));
    if (x.dim(1) % head_size != 0 || !IsFloat(x.dtype)) {
      return golden.Error(StrCat(in, " is ", Describe(x), ", want floats, heads of ", head_size));
    }
    GDN_ASSIGN_OR_RETURN(OwnedTensor rotated, CopyOf(x, bench.memory()));
    GDN_RETURN_IF_ERROR(
        bench.Finish(Rope(ctx, {.table = table.view,
                                .positions = positions,
                                .x = rotated.view.SplitLast(x.dim(1) / head_size, head_size)})));
    AddOutput(outputs, out, std::move(rotated));
  }
  return outputs;
}

Result<Outputs> RunSiluAndMul(Workbench& bench, const GoldenCase& golden) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor x, golden.Tensor("x", 2));
  if (x.dim(1) % 2 != 0) {
    return golden.Error(
        StrCat("x is ", Describe(x), ", want gate | up: an even number of columns"));
  }
  const int64_t cols = x.dim(1) / 2;
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(x.dtype, {x.dim(0), cols}, bench.memory()));
  GDN_ASSIGN_OR_RETURN(const ExecContext ctx, bench.Context());
  GDN_RETURN_IF_ERROR(bench.Finish(
      SiluAndMul(ctx, {.gate = x.Columns(0, cols), .up = x.Columns(cols, cols), .out = out.view})));
  Outputs outputs;
  AddOutput(outputs, "out", std::move(out));
  return outputs;
}

}  // namespace gdn
