// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/vulkan/operands.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/sigmoid_mul/sigmoid_mul_kernels.h"

GDN_VULKAN_SHADER(sigmoid_mul_vulkan)

namespace gdn {

void SigmoidMulVulkan(const ExecContext& ctx, const SigmoidMulArgs& args) {
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const int64_t num_rows = args.x.dim(0);
  const int64_t n = args.x.dim(1);
  const struct {
    uint32_t num_rows, n;
    vulkan::RowsAt x, gate, out;
  } push = {.num_rows = static_cast<uint32_t>(num_rows),
            .n = static_cast<uint32_t>(n),
            .x = {stream, args.x},
            .gate = {stream, args.gate},
            .out = {stream, args.out}};
  const std::array operands = {vulkan::Reads(args.x), vulkan::Reads(args.gate),
                               vulkan::Writes(args.out)};
  stream.Dispatch(vulkan::shaders::sigmoid_mul_vulkan, args.x.dtype, operands, push, {},
                  vulkan::ElementGroups(num_rows * n));
}

}  // namespace gdn
