// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/linear.h"

#include <array>

#include "base/str.h"
#include "ops/common/impl_table.h"
#include "ops/common/kernel_ids.h"
#include "ops/common/rows.h"
#include "ops/common/simd_target.h"
#include "ops/common/validate.h"
#include "ops/linear/linear_kernels.h"

namespace gdn {
namespace {

constexpr const char* kOp = "linear";

Status Validate(const LinearArgs& args) {
  if (args.weight == nullptr || args.weight->empty()) {
    return InvalidArgument(StrCat(kOp, ": there is no weight"));
  }
  const Weight& weight = *args.weight;
  if (args.x.shape.rank() != 2) {
    return InvalidArgument(
        StrCat(kOp, ": x is ", Describe(args.x), ", want [M, K=", weight.cols(), "]"));
  }
  const int64_t num_rows = args.x.dim(0);
  GDN_RETURN_IF_ERROR(
      CheckTensor(kOp, "x", args.x, weight.dtype(), {{"M", num_rows}, {"K", weight.cols()}}));
  if (args.round_to != weight.dtype() && args.round_to != DType::kF32) {
    return InvalidArgument(StrCat(kOp, ": round_to is ", Name(args.round_to), ", want ",
                                  Name(weight.dtype()), " or f32"));
  }
  const DType out_dtype = args.out.dtype == DType::kF32 ? DType::kF32 : args.round_to;
  GDN_RETURN_IF_ERROR(
      CheckTensor(kOp, "out", args.out, out_dtype, {{"M", num_rows}, {"N", weight.rows()}}));
  if (num_rows > 1 && args.out.stride(0) < weight.rows()) {
    return InvalidArgument(StrCat(kOp, ": out has rows ", args.out.stride(0),
                                  " apart, want at least N=", weight.rows()));
  }
  if (num_rows > 1 && args.x.stride(0) < 0) {
    return InvalidArgument(StrCat(kOp, ": x has row stride ", args.x.stride(0), ", want >= 0"));
  }
  return CheckAlias(kOp, "out", args.out, "x", args.x, Alias::kNone);
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

const char* RefSupports(const LinearArgs& /*args*/) { return nullptr; }

constexpr std::array<Impl<LinearArgs>, 2> kTable = {{
    {CpuId, DeviceType::kCpu, CpuSupports, LinearCpu},
    {RefId, DeviceType::kCpu, RefSupports, LinearRef},
}};

}  // namespace

Status Linear(const ExecContext& ctx, const LinearArgs& args) {
  GDN_RETURN_IF_ERROR(Validate(args));
  if (args.x.dim(0) == 0) return OkStatus();
  return RunFirst<LinearArgs>(kOp, kTable, ctx, args);
}

}  // namespace gdn
