// SPDX-License-Identifier: Apache-2.0
#include "ops/argmax/argmax.h"

#include "base/str.h"
#include "ops/argmax/argmax_kernels.h"
#include "ops/common/impl_table.h"
#include "ops/common/rows.h"
#include "ops/common/validate.h"

namespace gdn {
namespace {

constexpr const char* kOp = "argmax";

Status Validate(const ArgmaxArgs& args) {
  GDN_RETURN_IF_ERROR(CheckRows(kOp, "x", args.x));
  if (args.x.dtype != DType::kF32) {
    return InvalidArgument(StrCat(kOp, ": x is ", Name(args.x.dtype), ", want f32"));
  }
  GDN_RETURN_IF_ERROR(
      CheckContiguous(kOp, "index", args.index, DType::kI32, {{"R", args.x.dim(0)}}));
  return CheckAlias(kOp, "index", args.index, "x", args.x, Alias::kNone);
}

const char* RefId(const ArgmaxArgs& /*args*/) { return "argmax_f32__ref"; }
const char* VulkanId(const ArgmaxArgs& /*args*/) { return "argmax_f32__vulkan"; }
const char* GpuId(const ArgmaxArgs& /*args*/) { return "argmax_f32__gpu"; }
const char* Always(const ArgmaxArgs& /*args*/) { return nullptr; }

constexpr Impl<ArgmaxArgs> kTable[] = {
    {RefId, KernelFamily::kCpu, Always, ArgmaxRef},
    {VulkanId, KernelFamily::kVulkan, Always, IfBuilt(GDN_IF_VULKAN(ArgmaxVulkan))},
    {GpuId, KernelFamily::kGpu, Always, IfBuilt(GDN_IF_GPU(ArgmaxGpu))},
};

}  // namespace

Status Argmax(const ExecContext& ctx, const ArgmaxArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  return RunFirst<ArgmaxArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
