// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/vulkan/operands.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/rms_norm_gated/rms_norm_gated_kernels.h"

GDN_VULKAN_SHADER(rms_norm_gated_vulkan)

namespace gdn {

void RmsNormGatedVulkan(const ExecContext& ctx, const RmsNormGatedArgs& args) {
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const struct {
    uint32_t num_rows, n;
    float eps;
    vulkan::RowsAt x, gate;
    uint32_t weight_base;
    vulkan::RowsAt out;
  } push = {.num_rows = static_cast<uint32_t>(args.x.dim(0)),
            .n = static_cast<uint32_t>(args.x.dim(1)),
            .eps = args.eps,
            .x = {stream, args.x},
            .gate = {stream, args.gate},
            .weight_base = stream.Base(args.weight),
            .out = {stream, args.out}};
  const std::array operands = {vulkan::Reads(args.x), vulkan::Reads(args.gate),
                               vulkan::Reads(args.weight), vulkan::Writes(args.out)};
  const std::array<uint32_t, 1> constants = {args.activation == GateActivation::kSilu ? 1U : 0U};
  stream.Dispatch(vulkan::shaders::rms_norm_gated_vulkan, args.x.dtype, operands, push, constants,
                  vulkan::RowGroups(args.x.dim(0)));
}

}  // namespace gdn
