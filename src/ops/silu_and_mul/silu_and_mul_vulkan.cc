// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/vulkan/operands.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/silu_and_mul/silu_and_mul_kernels.h"

GDN_VULKAN_SHADER(silu_and_mul_vulkan)

namespace gdn {

void SiluAndMulVulkan(const ExecContext& ctx, const SiluAndMulArgs& args) {
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const int64_t num_rows = args.gate.dim(0);
  const int64_t n = args.gate.dim(1);
  const struct {
    uint32_t num_rows, n;
    vulkan::RowsAt gate, up, out;
  } push = {.num_rows = static_cast<uint32_t>(num_rows),
            .n = static_cast<uint32_t>(n),
            .gate = {stream, args.gate},
            .up = {stream, args.up},
            .out = {stream, args.out}};
  const std::array operands = {vulkan::Reads(args.gate), vulkan::Reads(args.up),
                               vulkan::Writes(args.out)};
  stream.Dispatch(vulkan::shaders::silu_and_mul_vulkan, args.gate.dtype, operands, push, {},
                  vulkan::ElementGroups(num_rows * n));
}

}  // namespace gdn
