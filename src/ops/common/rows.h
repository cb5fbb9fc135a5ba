// SPDX-License-Identifier: Apache-2.0
// What the ops over rows [R, n] share: checks of their tensors, and the division of rows into
// tasks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

// A matrix [R, n >= 1] of f32, f16 or bf16; rows may be strided.
Status CheckRows(const char* op, const char* name, const ConstTensor& x);

// out has the dtype and shape of x, and rows that do not share elements.
Status CheckRowsOut(const char* op, const char* name, const ConstTensor& out, const ConstTensor& x);

enum class Alias {
  kNone,
  kExact,  // the very same view is fine too
};

// out and in share no byte. Columns of one buffer are told apart by their row stride.
Status CheckAlias(const char* op, const char* out_name, const ConstTensor& out, const char* in_name,
                  const ConstTensor& in, Alias allowed);

// Calls body(first, last) over blocks of [0, rows) whose size depends on row_elements alone. A
// block is a few microseconds of work, so that one row, or a few short ones, stay on this thread.
template <class Body>
void ParallelRows(const ExecContext& ctx, int64_t rows, int64_t row_elements, const Body& body) {
  constexpr int64_t kBlockElements = 16384;
  const int64_t block = std::max<int64_t>(1, kBlockElements / std::max<int64_t>(1, row_elements));
  const int64_t num_blocks = (rows + block - 1) / block;
  const auto run_block = [&](int64_t index, int /*worker*/) {
    body(index * block, std::min(rows, (index + 1) * block));
  };
  if (num_blocks <= 1) {
    run_block(0, 0);
  } else {
    ctx.pool->Run(num_blocks, run_block);
  }
}

}  // namespace gdn
