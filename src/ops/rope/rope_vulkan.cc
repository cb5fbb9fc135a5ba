// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/vulkan/operands.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/rope/rope_kernels.h"

GDN_VULKAN_SHADER(rope_vulkan)

namespace gdn {

void RopeVulkan(const ExecContext& ctx, const RopeArgs& args) {
  const int64_t num_heads = args.x.dim(1);
  const int64_t half_dim = args.table.dim(1) / 2;
  if (args.positions.empty() || num_heads == 0) return;
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const int32_t* positions = stream.Upload(args.positions);
  if (positions == nullptr) return;
  const struct {
    uint32_t num_tokens, num_heads, half_dim, positions_base;
    vulkan::RowsAt table, x;
    uint32_t x_head_stride;
  } push = {.num_tokens = static_cast<uint32_t>(args.x.dim(0)),
            .num_heads = static_cast<uint32_t>(num_heads),
            .half_dim = static_cast<uint32_t>(half_dim),
            .positions_base = stream.Base(positions, sizeof *positions),
            .table = {stream, args.table},
            .x = {stream, args.x},
            .x_head_stride = static_cast<uint32_t>(args.x.stride(1))};
  const std::array operands = {vulkan::Operand{positions, args.positions.size_bytes()},
                               vulkan::Reads(args.table), vulkan::Writes(args.x)};
  stream.Dispatch(vulkan::shaders::rope_vulkan, args.x.dtype, operands, push, {},
                  vulkan::ElementGroups(args.x.dim(0) * num_heads * half_dim));
}

}  // namespace gdn
