// SPDX-License-Identifier: Apache-2.0
#include "ops/rms_norm_gated/rms_norm_gated.h"

#include <cmath>

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/rows.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/rms_norm_gated/rms_norm_gated_kernels.h"

namespace gdn {
namespace {

constexpr const char* kOp = "rms_norm_gated";

Status Validate(const RmsNormGatedArgs& args) {
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "x", args.x));
  const int64_t rows = args.x.dim(0);
  const int64_t n = args.x.dim(1);
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "gate", args.gate, args.x.dtype, {{"R", rows}, {"n", n}}));
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "gate", args.gate));
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "weight", args.weight, DType::kF32, {{"n", n}}));
  GDN_RETURN_IF_ERROR(CheckRowsOut(kOp, "out", args.out, args.x));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, "out", args.out, "x", args.x, Alias::kExact));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, "out", args.out, "gate", args.gate, Alias::kNone));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, "out", args.out, "weight", args.weight, Alias::kNone));
  if (!(args.eps > 0) || !std::isfinite(args.eps)) {
    return InvalidArgument(StrCat(kOp, ": eps is ", args.eps, ", want it above 0 and finite"));
  }
  return OkStatus();
}

const char* RefId(const RmsNormGatedArgs& args) {
  static constexpr FloatKernelIds kIds{"rms_norm_gated_f32__ref", "rms_norm_gated_f16__ref",
                                       "rms_norm_gated_bf16__ref"};
  return kIds.Of(args.x.dtype);
}

const char* CpuId(const RmsNormGatedArgs& args) {
  static const FloatKernelIds ids{KernelId("rms_norm_gated_f32"), KernelId("rms_norm_gated_f16"),
                                  KernelId("rms_norm_gated_bf16")};
  return ids.Of(args.x.dtype);
}

const char* VulkanId(const RmsNormGatedArgs& args) {
  static constexpr FloatKernelIds kIds{"rms_norm_gated_f32__vulkan", "rms_norm_gated_f16__vulkan",
                                       "rms_norm_gated_bf16__vulkan"};
  return kIds.Of(args.x.dtype);
}

const char* GpuId(const RmsNormGatedArgs& args) {
  static constexpr FloatKernelIds kIds{"rms_norm_gated_f32__gpu", "rms_norm_gated_f16__gpu",
                                       "rms_norm_gated_bf16__gpu"};
  return kIds.Of(args.x.dtype);
}

const char* Always(const RmsNormGatedArgs& /*args*/) { return nullptr; }

constexpr Impl<RmsNormGatedArgs> kTable[] = {
    {CpuId, KernelFamily::kCpu, Always, RmsNormGatedCpu},
    {RefId, KernelFamily::kCpu, Always, RmsNormGatedRef},
    {VulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(RmsNormGatedVulkan))},
    {GpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(RmsNormGatedGpu))},
};

}  // namespace

Status RmsNormGated(const ExecContext& ctx, const RmsNormGatedArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  return RunFirst<RmsNormGatedArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
