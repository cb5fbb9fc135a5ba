// SPDX-License-Identifier: Apache-2.0
#include "ops/rms_norm/rms_norm.h"

#include <cmath>

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/rows.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/rms_norm/rms_norm_kernels.h"

namespace gdn {
namespace {

constexpr const char* kOp = "rms_norm";

Status Validate(const RmsNormArgs& args) {
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "x", args.x));
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "weight", args.weight, DType::kF32, {{"n", args.x.dim(1)}}));
  GDN_RETURN_IF_ERROR(CheckRowsOut(kOp, "out", args.out, args.x));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, "out", args.out, "x", args.x, Alias::kExact));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, "out", args.out, "weight", args.weight, Alias::kNone));
  if (!args.residual.empty()) {
    GDN_RETURN_IF_ERROR(CheckRowsOut(kOp, "residual", args.residual, args.x));
    GDN_RETURN_IF_ERROR(CheckAlias(kOp, "residual", args.residual, "x", args.x, Alias::kNone));
    GDN_RETURN_IF_ERROR(
        CheckAlias(kOp, "residual", args.residual, "weight", args.weight, Alias::kNone));
    GDN_RETURN_IF_ERROR(CheckAlias(kOp, "out", args.out, "residual", args.residual, Alias::kNone));
  }
  if (!(args.eps > 0) || !std::isfinite(args.eps)) {
    return InvalidArgument(StrCat(kOp, ": eps is ", args.eps, ", want it above 0 and finite"));
  }
  return OkStatus();
}

const char* RefId(const RmsNormArgs& args) {
  static constexpr FloatKernelIds kIds{"rms_norm_f32__ref", "rms_norm_f16__ref",
                                       "rms_norm_bf16__ref"};
  return kIds.Of(args.x.dtype);
}

const char* CpuId(const RmsNormArgs& args) {
  static const FloatKernelIds ids{KernelId("rms_norm_f32"), KernelId("rms_norm_f16"),
                                  KernelId("rms_norm_bf16")};
  return ids.Of(args.x.dtype);
}

const char* VulkanId(const RmsNormArgs& args) {
  static constexpr FloatKernelIds kIds{"rms_norm_f32__vulkan", "rms_norm_f16__vulkan",
                                       "rms_norm_bf16__vulkan"};
  return kIds.Of(args.x.dtype);
}

const char* GpuId(const RmsNormArgs& args) {
  static constexpr FloatKernelIds kIds{"rms_norm_f32__gpu", "rms_norm_f16__gpu",
                                       "rms_norm_bf16__gpu"};
  return kIds.Of(args.x.dtype);
}

const char* Always(const RmsNormArgs& /*args*/) { return nullptr; }

constexpr Impl<RmsNormArgs> kTable[] = {
    {CpuId, KernelFamily::kCpu, Always, RmsNormCpu},
    {RefId, KernelFamily::kCpu, Always, RmsNormRef},
    {VulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(RmsNormVulkan))},
    {GpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(RmsNormGpu))},
};

}  // namespace

Status RmsNorm(const ExecContext& ctx, const RmsNormArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  return RunFirst<RmsNormArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
