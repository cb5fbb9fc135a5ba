// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/vulkan/operands.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/argmax/argmax_kernels.h"

GDN_VULKAN_SHADER(argmax_vulkan)

namespace gdn {

void ArgmaxVulkan(const ExecContext& ctx, const ArgmaxArgs& args) {
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const struct {
    uint32_t num_rows, n;
    vulkan::RowsAt x;
    uint32_t index_base;
  } push = {.num_rows = static_cast<uint32_t>(args.x.dim(0)),
            .n = static_cast<uint32_t>(args.x.dim(1)),
            .x = {stream, args.x},
            .index_base = stream.Base(args.index)};
  const std::array operands = {vulkan::Reads(args.x), vulkan::Writes(args.index)};
  stream.Dispatch(vulkan::shaders::argmax_vulkan, args.x.dtype, operands, push, {},
                  vulkan::RowGroups(args.x.dim(0)));
}

}  // namespace gdn
