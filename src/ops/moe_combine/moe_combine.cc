// SPDX-License-Identifier: Apache-2.0
#include "ops/moe_combine/moe_combine.h"

#include <array>

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/rows.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/moe_combine/moe_combine_kernels.h"

namespace gdn {
namespace {

constexpr const char* kOp = "moe_combine";

Status CheckExperts(const MoeCombineArgs& args) {
  const ConstTensor& experts = args.expert_out;
  const NamedDim tokens{"T", args.out.dim(0)};
  const NamedDim hidden{"H", args.out.dim(1)};
  const DType dtype = args.order == MoeCombineOrder::kFusedKernel ? DType::kF32 : args.out.dtype;
  if (experts.shape.rank() != 3 || experts.dim(1) < 1) {
    return InvalidArgument(StrCat(kOp, ": expert_out is ", Describe(experts), ", want ",
                                  Name(dtype), " [T=", tokens.size, ", top_k >= 1, H=", hidden.size,
                                  "]"));
  }
  const NamedDim top_k{"top_k", experts.dim(1)};
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "expert_out", experts, dtype, {tokens, top_k, hidden}));
  if (experts.stride(0) < 0 || experts.stride(1) < 0) {
    return InvalidArgument(StrCat(kOp, ": expert_out has strides ", experts.stride(0), " and ",
                                  experts.stride(1), ", want at least 0"));
  }
  return CheckContiguous(kOp, "weights", args.weights, DType::kF32, {tokens, top_k});
}

Status CheckShared(const MoeCombineArgs& args) {
  if (args.shared.empty()) {
    const bool has_gate = !args.shared_gate_logit.empty();
    if (!has_gate && args.shared_out.empty()) return OkStatus();
    return InvalidArgument(
        StrCat(kOp, ": ", has_gate ? "shared_gate_logit" : "shared_out", " is ",
               has_gate ? Describe(args.shared_gate_logit) : Describe(args.shared_out),
               ", want it empty: there is no shared expert"));
  }
  const NamedDim tokens{"T", args.out.dim(0)};
  GDN_RETURN_IF_ERROR(
      CheckTensor(kOp, "shared", args.shared, args.out.dtype, {tokens, {"H", args.out.dim(1)}}));
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "shared", args.shared));
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "shared_gate_logit", args.shared_gate_logit, args.out.dtype,
                                  {tokens, {"n", 1}}));
  return CheckRows(kOp, "shared_gate_logit", args.shared_gate_logit);
}

// Elements are read before the output at their place is written: out and shared_out may be shared.
Status CheckOutput(const char* name, const Tensor& out, Alias with_shared,
                   const MoeCombineArgs& args) {
  GDN_RETURN_IF_ERROR(CheckRowsOut(kOp, name, out, args.out));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, name, out, "expert_out", args.expert_out, Alias::kNone));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, name, out, "weights", args.weights, Alias::kNone));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, name, out, "shared", args.shared, with_shared));
  return CheckAlias(kOp, name, out, "shared_gate_logit", args.shared_gate_logit, Alias::kNone);
}

Status CheckOutputs(const MoeCombineArgs& args) {
  GDN_RETURN_IF_ERROR(CheckOutput("out", args.out, Alias::kExact, args));
  if (!args.routed.empty()) {
    GDN_RETURN_IF_ERROR(CheckOutput("routed", args.routed, Alias::kNone, args));
    GDN_RETURN_IF_ERROR(CheckAlias(kOp, "routed", args.routed, "out", args.out, Alias::kNone));
  }
  if (args.shared_out.empty()) return OkStatus();
  GDN_RETURN_IF_ERROR(CheckOutput("shared_out", args.shared_out, Alias::kExact, args));
  GDN_RETURN_IF_ERROR(
      CheckAlias(kOp, "shared_out", args.shared_out, "out", args.out, Alias::kNone));
  return CheckAlias(kOp, "shared_out", args.shared_out, "routed", args.routed, Alias::kNone);
}

Status Validate(const MoeCombineArgs& args) {
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "out", args.out));
  GDN_RETURN_IF_ERROR(CheckExperts(args));
  GDN_RETURN_IF_ERROR(CheckShared(args));
  return CheckOutputs(args);
}

const char* RefId(const MoeCombineArgs& args) {
  static constexpr FloatKernelIds kIds{"moe_combine_f32__ref", "moe_combine_f16__ref",
                                       "moe_combine_bf16__ref"};
  return kIds.Of(args.out.dtype);
}

const char* CpuId(const MoeCombineArgs& args) {
  static const FloatKernelIds ids{KernelId("moe_combine_f32"), KernelId("moe_combine_f16"),
                                  KernelId("moe_combine_bf16")};
  return ids.Of(args.out.dtype);
}

const char* Always(const MoeCombineArgs& /*args*/) { return nullptr; }

constexpr std::array<Impl<MoeCombineArgs>, 2> kTable = {{
    {CpuId, KernelFamily::kCpu, Always, MoeCombineCpu},
    {RefId, KernelFamily::kCpu, Always, MoeCombineRef},
}};

}  // namespace

Status MoeCombine(const ExecContext& ctx, const MoeCombineArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  return RunFirst<MoeCombineArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
