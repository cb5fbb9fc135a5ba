// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "ops/embedding/embedding_kernels.h"
#include "ops/linear/weight_layout.h"

namespace gdn {
namespace {

// Columns that one task copies: in panels every dword of a row is a cache line of its own, so that
// a single token is worth several tasks. A multiple of what shares a dword.
constexpr int64_t kTaskCols = 1024;

void CopyCols(const Weight& table, int64_t row, int64_t first, int64_t count, char* out) {
  const auto size = static_cast<int64_t>(SizeOf(table.dtype()));
  if (table.layout() == WeightLayout::kRowMajor) {
    const auto* rows = static_cast<const char*>(table.data());
    std::memcpy(out, rows + (row * table.cols() + first) * size, static_cast<size_t>(count * size));
    return;
  }
  const uint32_t* dword = PanelDword(table, row, first);
  int64_t bytes = count * size;
  for (; bytes >= 4; bytes -= 4, out += 4, dword += Weight::kPanelRows) std::memcpy(out, dword, 4);
  if (bytes > 0) std::memcpy(out, dword, 2);
}

}  // namespace

void EmbeddingCpu(const ExecContext& ctx, const EmbeddingArgs& args) {
  const Weight& table = *args.table;
  const auto size = static_cast<int64_t>(SizeOf(table.dtype()));
  const int64_t chunks = (table.cols() + kTaskCols - 1) / kTaskCols;
  ctx.pool->Run(args.out.dim(0) * chunks, [&](int64_t task, int) {
    const int64_t token = task / chunks;
    const int64_t first = task % chunks * kTaskCols;
    CopyCols(table, args.ids[static_cast<size_t>(token)], first,
             std::min(kTaskCols, table.cols() - first),
             static_cast<char*>(args.out.data) + (token * args.out.stride(0) + first) * size);
  });
}

}  // namespace gdn
