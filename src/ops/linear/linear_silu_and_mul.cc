// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/linear_silu_and_mul.h"

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/linear/linear_kernels.h"
#include "ops/linear/validate_linear.h"

namespace gdn {
namespace {

constexpr const char* kOp = "linear_silu_and_mul";

Status Validate(const LinearSiluAndMulArgs& args) {
  GDN_RETURN_IF_ERROR(CheckLinear(kOp, args.x, args.gate, args.out));
  GDN_RETURN_IF_ERROR(CheckLinear(kOp, args.x, args.up, args.out));
  if (args.up->layout() != args.gate->layout()) {
    return InvalidArgument(StrCat(kOp, ": gate and up are packed in different ways"));
  }
  return CheckTensor(kOp, "out", args.out, args.gate->dtype(),
                     {{"M", args.x.dim(0)}, {"N", args.gate->rows()}});
}

const char* CpuId(const LinearSiluAndMulArgs& args) {
  static const FloatKernelIds ids = {KernelId("linear_silu_and_mul_panel_f32"),
                                     KernelId("linear_silu_and_mul_panel_f16"),
                                     KernelId("linear_silu_and_mul_panel_bf16")};
  return ids.Of(args.gate->dtype());
}

const char* CpuSupports(const LinearSiluAndMulArgs& args) {
  return args.gate->layout() == WeightLayout::kPanel32 ? nullptr : "the weights are not packed";
}

const char* RefId(const LinearSiluAndMulArgs& args) {
  static constexpr FloatKernelIds kIds = {"linear_silu_and_mul_f32__ref",
                                          "linear_silu_and_mul_f16__ref",
                                          "linear_silu_and_mul_bf16__ref"};
  return kIds.Of(args.gate->dtype());
}

const char* VulkanId(const LinearSiluAndMulArgs& args) {
  static constexpr FloatKernelIds kIds = {"linear_silu_and_mul_f32__vulkan",
                                          "linear_silu_and_mul_f16__vulkan",
                                          "linear_silu_and_mul_bf16__vulkan"};
  return kIds.Of(args.gate->dtype());
}

const char* GpuId(const LinearSiluAndMulArgs& args) {
  static constexpr FloatKernelIds kIds = {"linear_silu_and_mul_f32__gpu",
                                          "linear_silu_and_mul_f16__gpu",
                                          "linear_silu_and_mul_bf16__gpu"};
  return kIds.Of(args.gate->dtype());
}

const char* Always(const LinearSiluAndMulArgs& /*args*/) { return nullptr; }

constexpr Impl<LinearSiluAndMulArgs> kTable[] = {
    {CpuId, KernelFamily::kCpu, CpuSupports, LinearSiluAndMulCpu},
    {RefId, KernelFamily::kCpu, Always, LinearSiluAndMulRef},
    {VulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(LinearSiluAndMulVulkan))},
    {GpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(LinearSiluAndMulGpu))},
};

}  // namespace

Status LinearSiluAndMul(const ExecContext& ctx, const LinearSiluAndMulArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  if (args.x.dim(0) == 0) return OkStatus();
  return RunFirst<LinearSiluAndMulArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
