// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/vulkan/operands.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/rms_norm/rms_norm_kernels.h"

GDN_VULKAN_SHADER(rms_norm_vulkan)

namespace gdn {

void RmsNormVulkan(const ExecContext& ctx, const RmsNormArgs& args) {
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const bool has_residual = !args.residual.empty();
  const struct {
    uint32_t num_rows, n;
    float eps;
    vulkan::RowsAt x;
    uint32_t weight_base;
    vulkan::RowsAt residual, out;
  } push = {.num_rows = static_cast<uint32_t>(args.x.dim(0)),
            .n = static_cast<uint32_t>(args.x.dim(1)),
            .eps = args.eps,
            .x = {stream, args.x},
            .weight_base = stream.Base(args.weight),
            .residual = {stream, args.residual},
            .out = {stream, args.out}};
  const std::array operands = {vulkan::Reads(args.x), vulkan::Reads(args.weight),
                               vulkan::Writes(args.residual), vulkan::Writes(args.out)};
  const std::array<uint32_t, 2> constants = {args.style == RmsNormStyle::kGemma ? 1U : 0U,
                                             has_residual ? 1U : 0U};
  stream.Dispatch(vulkan::shaders::rms_norm_vulkan, args.x.dtype, operands, push, constants,
                  vulkan::RowGroups(args.x.dim(0)));
}

}  // namespace gdn
