// SPDX-License-Identifier: Apache-2.0
#include "ops/silu_and_mul/silu_and_mul.h"

#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/rows.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/silu_and_mul/silu_and_mul_kernels.h"

namespace gdn {
namespace {

constexpr const char* kOp = "silu_and_mul";

Status Validate(const SiluAndMulArgs& args) {
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "gate", args.gate));
  GDN_RETURN_IF_ERROR(CheckTensor(kOp, "up", args.up, args.gate.dtype,
                                  {{"T", args.gate.dim(0)}, {"n", args.gate.dim(1)}}));
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "up", args.up));
  GDN_RETURN_IF_ERROR(CheckRowsOut(kOp, "out", args.out, args.gate));
  GDN_RETURN_IF_ERROR(CheckAlias(kOp, "out", args.out, "gate", args.gate, Alias::kExact));
  return CheckAlias(kOp, "out", args.out, "up", args.up, Alias::kExact);
}

const char* RefId(const SiluAndMulArgs& args) {
  static constexpr FloatKernelIds kIds{"silu_and_mul_f32__ref", "silu_and_mul_f16__ref",
                                       "silu_and_mul_bf16__ref"};
  return kIds.Of(args.gate.dtype);
}

const char* CpuId(const SiluAndMulArgs& args) {
  static const FloatKernelIds ids{KernelId("silu_and_mul_f32"), KernelId("silu_and_mul_f16"),
                                  KernelId("silu_and_mul_bf16")};
  return ids.Of(args.gate.dtype);
}

const char* VulkanId(const SiluAndMulArgs& args) {
  static constexpr FloatKernelIds kIds{"silu_and_mul_f32__vulkan", "silu_and_mul_f16__vulkan",
                                       "silu_and_mul_bf16__vulkan"};
  return kIds.Of(args.gate.dtype);
}

const char* GpuId(const SiluAndMulArgs& args) {
  static constexpr FloatKernelIds kIds{"silu_and_mul_f32__gpu", "silu_and_mul_f16__gpu",
                                       "silu_and_mul_bf16__gpu"};
  return kIds.Of(args.gate.dtype);
}

const char* Always(const SiluAndMulArgs& /*args*/) { return nullptr; }

constexpr Impl<SiluAndMulArgs> kTable[] = {
    {CpuId, KernelFamily::kCpu, Always, SiluAndMulCpu},
    {RefId, KernelFamily::kCpu, Always, SiluAndMulRef},
    {VulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(SiluAndMulVulkan))},
    {GpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(SiluAndMulGpu))},
};

}  // namespace

Status SiluAndMul(const ExecContext& ctx, const SiluAndMulArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  return RunFirst<SiluAndMulArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
