// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/vulkan/operands.h"
#include "backend/vulkan/vulkan_backend.h"
#include "ops/embedding/embedding_kernels.h"
#include "ops/linear/weight_layout.h"

GDN_VULKAN_SHADER(embedding_vulkan)

namespace gdn {

void EmbeddingVulkan(const ExecContext& ctx, const EmbeddingArgs& args) {
  vulkan::Stream& stream = vulkan::StreamOf(ctx);
  const Weight& table = *args.table;
  const int32_t* ids = stream.Upload(args.ids);
  if (ids == nullptr) return;
  // Each token is in one part; the dispatches of the others pass over it.
  ForEachPart(table, vulkan::MaxOperandBytes(stream), [&](const WeightPart& part) {
    const vulkan::RowsAt out(stream, args.out);
    const struct {
      uint32_t num_tokens, hidden, first_row, num_rows, ids_base, table_base;
      vulkan::RowsAt out;
    } push = {.num_tokens = static_cast<uint32_t>(args.ids.size()),
              .hidden = static_cast<uint32_t>(table.cols()),
              .first_row = static_cast<uint32_t>(part.first_row),
              .num_rows = static_cast<uint32_t>(part.num_rows),
              .ids_base = stream.Base(ids, sizeof *ids),
              .table_base = stream.Base(part.data, SizeOf(table.dtype())),
              .out = out};
    const std::array operands = {vulkan::Operand{ids, args.ids.size_bytes()},
                                 vulkan::Operand{part.data, part.bytes}, vulkan::Writes(args.out)};
    const std::array<uint32_t, 1> constants = {table.layout() == WeightLayout::kRowMajor ? 1U : 0U};
    stream.Dispatch(vulkan::shaders::embedding_vulkan, table.dtype(), operands, push, constants,
                    vulkan::RowGroups(args.out.dim(0)));
  });
}

}  // namespace gdn
