// SPDX-License-Identifier: Apache-2.0
#include "ops/sigmoid_mul/sigmoid_mul.h"

#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/rows.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/sigmoid_mul/sigmoid_mul_kernels.h"

namespace gdn {
namespace {

constexpr const char* kOp = "sigmoid_mul";

Status Validate(const SigmoidMulArgs& args) {
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "x", args.x));
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "gate", args.gate, args.x.dtype,
                                  {{"R", args.x.dim(0)}, {"n", args.x.dim(1)}}));
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "gate", args.gate));
  GDN_RETURN_IF_ERROR(CheckRowsOut(kOp, "out", args.out, args.x));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, "out", args.out, "x", args.x, Alias::kExact));
  return CheckAlias(kOp, "out", args.out, "gate", args.gate, Alias::kNone);
}

const char* RefId(const SigmoidMulArgs& args) {
  static constexpr FloatKernelIds kIds{"sigmoid_mul_f32__ref", "sigmoid_mul_f16__ref",
                                       "sigmoid_mul_bf16__ref"};
  return kIds.Of(args.x.dtype);
}

const char* CpuId(const SigmoidMulArgs& args) {
  static const FloatKernelIds ids{KernelId("sigmoid_mul_f32"), KernelId("sigmoid_mul_f16"),
                                  KernelId("sigmoid_mul_bf16")};
  return ids.Of(args.x.dtype);
}

const char* VulkanId(const SigmoidMulArgs& args) {
  static constexpr FloatKernelIds kIds{"sigmoid_mul_f32__vulkan", "sigmoid_mul_f16__vulkan",
                                       "sigmoid_mul_bf16__vulkan"};
  return kIds.Of(args.x.dtype);
}

const char* GpuId(const SigmoidMulArgs& args) {
  static constexpr FloatKernelIds kIds{"sigmoid_mul_f32__gpu", "sigmoid_mul_f16__gpu",
                                       "sigmoid_mul_bf16__gpu"};
  return kIds.Of(args.x.dtype);
}

const char* Always(const SigmoidMulArgs& /*args*/) { return nullptr; }

constexpr Impl<SigmoidMulArgs> kTable[] = {
    {CpuId, KernelFamily::kCpu, Always, SigmoidMulCpu},
    {RefId, KernelFamily::kCpu, Always, SigmoidMulRef},
    {VulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(SigmoidMulVulkan))},
    {GpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(SigmoidMulGpu))},
};

}  // namespace

Status SigmoidMul(const ExecContext& ctx, const SigmoidMulArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  return RunFirst<SigmoidMulArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
