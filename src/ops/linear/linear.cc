// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/linear.h"

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/rows.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/linear/linear_kernels.h"
#include "ops/linear/validate_linear.h"

namespace gdn {

Status CheckLinear(const char* op, const ConstTensor& x, const Weight* weight, const Tensor& out) {
  if (weight == nullptr || weight->empty()) {
    return InvalidArgument(StrCat(op, ": there is no weight"));
  }
  if (x.shape.rank() != 2) {
    return InvalidArgument(
        StrCat(op, ": x is ", Describe(x), ", want [M, K=", weight->cols(), "]"));
  }
  const int64_t num_rows = x.dim(0);
  GDN_RETURN_IF_ERROR(
      CheckTensor(op, "x", x, weight->dtype(), {{"M", num_rows}, {"K", weight->cols()}}));
  GDN_RETURN_IF_ERROR(
      CheckTensor(op, "out", out, out.dtype, {{"M", num_rows}, {"N", weight->rows()}}));
  if (num_rows > 1 && out.stride(0) < weight->rows()) {
    return InvalidArgument(
        StrCat(op, ": out has rows ", out.stride(0), " apart, want at least N=", weight->rows()));
  }
  if (num_rows > 1 && x.stride(0) < 0) {
    return InvalidArgument(StrCat(op, ": x has row stride ", x.stride(0), ", want >= 0"));
  }
  return CheckAlias(op, "out", out, "x", x, Alias::kNone);
}

namespace {

constexpr const char* kOp = "linear";

Status Validate(const LinearArgs& args) {
  GDN_RETURN_IF_ERROR(CheckLinear(kOp, args.x, args.weight, args.out));
  const DType dtype = args.weight->dtype();
  if (args.round_to != dtype && args.round_to != DType::kF32) {
    return InvalidArgument(
        StrCat(kOp, ": round_to is ", Name(args.round_to), ", want ", Name(dtype), " or f32"));
  }
  const DType out_dtype = args.out.dtype == DType::kF32 ? DType::kF32 : args.round_to;
  return CheckTensor(kOp, "out", args.out, out_dtype,
                     {{"M", args.x.dim(0)}, {"N", args.weight->rows()}});
}

const char* CpuId(const LinearArgs& args) {
  static const FloatKernelIds ids = {KernelId("linear_panel_f32"), KernelId("linear_panel_f16"),
                                     KernelId("linear_panel_bf16")};
  return ids.Of(args.weight->dtype());
}

const char* CpuSupports(const LinearArgs& args) {
  return args.weight->layout() == WeightLayout::kPanel32 ? nullptr : "the weight is not packed";
}

const char* RefId(const LinearArgs& args) {
  static constexpr FloatKernelIds kIds = {"linear_f32__ref", "linear_f16__ref", "linear_bf16__ref"};
  return kIds.Of(args.weight->dtype());
}

const char* VulkanId(const LinearArgs& args) {
  static constexpr FloatKernelIds kIds = {"linear_f32__vulkan", "linear_f16__vulkan",
                                          "linear_bf16__vulkan"};
  return kIds.Of(args.weight->dtype());
}

const char* GpuId(const LinearArgs& args) {
  static constexpr FloatKernelIds kIds = {"linear_f32__gpu", "linear_f16__gpu", "linear_bf16__gpu"};
  return kIds.Of(args.weight->dtype());
}

const char* Always(const LinearArgs& /*args*/) { return nullptr; }

constexpr Impl<LinearArgs> kTable[] = {
    {CpuId, KernelFamily::kCpu, CpuSupports, LinearCpu},
    {RefId, KernelFamily::kCpu, Always, LinearRef},
    {VulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(LinearVulkan))},
    {GpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(LinearGpu))},
};

}  // namespace

Status Linear(const ExecContext& ctx, const LinearArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  if (args.x.dim(0) == 0) return OkStatus();
  return RunFirst<LinearArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
