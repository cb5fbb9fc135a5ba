// SPDX-License-Identifier: Apache-2.0
#include "ops/causal_conv1d/causal_conv1d.h"

#include "base/str.h"
#include "ops/causal_conv1d/causal_conv1d_ref.h"
#include "ops/common/impl_table.h"
#include "ops/common/overlap.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"

namespace gdn {
namespace {

constexpr const char* kOp = "causal_conv1d";

Status CheckShapes(const CausalConv1dArgs& args) {
  if (args.x.shape.rank() != 2 || args.weight.shape.rank() != 2) {
    return InvalidArgument(StrCat(kOp, ": x is ", Describe(args.x), ", weight is ",
                                  Describe(args.weight), ", want [T, C] and [C, Kc]"));
  }
  const DType d = args.x.dtype;
  if (!IsFloat(d)) {
    return InvalidArgument(StrCat(kOp, ": x is ", Describe(args.x), ", want f32, f16 or bf16"));
  }
  const int64_t taps = args.weight.dim(1);
  if (taps < 2 || taps > 4) {
    return InvalidArgument(StrCat(kOp, ": weight is ", Describe(args.weight), ", want Kc in 2..4"));
  }
  const NamedDim t{"T", args.x.dim(0)};
  const NamedDim c{"C", args.x.dim(1)};
  const int64_t num_slots = args.state.shape.rank() == 3 ? args.state.dim(0) : 0;
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "x", args.x, d, {t, c}));
  GDN_RETURN_IF_ERROR(CheckContiguous(kOp, "weight", args.weight, d, {c, {"Kc", taps}}));
  GDN_RETURN_IF_ERROR(
      CheckTensor(kOp, "state", args.state, d, {{"slots", num_slots}, {"Kc-1", taps - 1}, c}));
  if (num_slots > 0 && !args.state.Slice(0, 1).IsContiguous()) {
    return InvalidArgument(StrCat(kOp, ": state is strided inside a slot, want it contiguous"));
  }
  if (num_slots > 1 && args.state.stride(0) < (taps - 1) * args.x.dim(1)) {
    return InvalidArgument(StrCat(kOp, ": slots of state overlap"));
  }
  return CheckContiguous(kOp, "out", args.out, d, {t, c});
}

Status CheckBatch(const CausalConv1dArgs& args) {
  GDN_RETURN_IF_ERROR(CheckCuSeqlens(kOp, args.cu_seqlens, args.x.dim(0)));
  const auto num_seqs = static_cast<int64_t>(args.cu_seqlens.size()) - 1;
  GDN_RETURN_IF_ERROR(CheckStateSlots(kOp, args.state_slots, num_seqs, args.state.dim(0)));
  if (static_cast<int64_t>(args.has_initial_state.size()) != num_seqs) {
    return InvalidArgument(StrCat(kOp, ": has_initial_state has ", args.has_initial_state.size(),
                                  " entries, want N=", num_seqs));
  }
  GDN_RETURN_IF_ERROR(CheckNoOverlap(kOp, "out", args.out, "x", args.x));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(kOp, "out", args.out, "weight", args.weight));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(kOp, "out", args.out, "state", args.state));
  GDN_RETURN_IF_ERROR(CheckNoOverlap(kOp, "state", args.state, "x", args.x));
  return CheckNoOverlap(kOp, "state", args.state, "weight", args.weight);
}

const char* IdFor(DType dtype, const char* f32, const char* f16, const char* bf16) {
  return dtype == DType::kBf16 ? bf16 : dtype == DType::kF16 ? f16 : f32;
}

const char* CpuId(const CausalConv1dArgs& args) {
  static const char* const f32 = KernelId("causal_conv1d_f32");
  static const char* const f16 = KernelId("causal_conv1d_f16");
  static const char* const bf16 = KernelId("causal_conv1d_bf16");
  return IdFor(args.x.dtype, f32, f16, bf16);
}

const char* RefId(const CausalConv1dArgs& args) {
  return IdFor(args.x.dtype, "causal_conv1d_f32__ref", "causal_conv1d_f16__ref",
               "causal_conv1d_bf16__ref");
}

const char* VulkanId(const CausalConv1dArgs& args) {
  return IdFor(args.x.dtype, "causal_conv1d_f32__vulkan", "causal_conv1d_f16__vulkan",
               "causal_conv1d_bf16__vulkan");
}

const char* GpuId(const CausalConv1dArgs& args) {
  return IdFor(args.x.dtype, "causal_conv1d_f32__gpu", "causal_conv1d_f16__gpu",
               "causal_conv1d_bf16__gpu");
}

const char* Always(const CausalConv1dArgs& /*args*/) { return nullptr; }

constexpr Impl<CausalConv1dArgs> kTable[] = {
    {CpuId, KernelFamily::kCpu, Always, RunCausalConv1dCpu},
    {RefId, KernelFamily::kCpu, Always, RunCausalConv1dRef},
    {VulkanId, KernelFamily::kVulkan, IfBuilt(GDN_IF_VULKAN(CausalConv1dVulkanSupports)),
     IfBuilt(GDN_IF_VULKAN(RunCausalConv1dVulkan))},
    {GpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(RunCausalConv1dGpu))}};

}  // namespace

Status CausalConv1d(const ExecContext& ctx, const CausalConv1dArgs& args) {
  GDN_RETURN_IF_ERROR(CheckShapes(args));
  GDN_RETURN_IF_ERROR(CheckBatch(args));
  if (ctx.device.type == DeviceType::kCpu && ctx.pool == nullptr) {
    return InvalidArgument(StrCat(kOp, ": the context has no thread pool"));
  }
  return RunFirst<CausalConv1dArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
