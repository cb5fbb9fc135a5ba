// SPDX-License-Identifier: Apache-2.0
// Token embedding: out[t] = table[ids[t]], a bit copy. Reads the same (packed) weight as a tied
// head.
#pragma once

#include <span>

#include "backend/exec_context.h"
#include "base/status.h"
#include "ops/linear/weight.h"

namespace gdn {

struct EmbeddingArgs {
  std::span<const int32_t> ids;   // [T], each in [0, rows of table)
  const Weight* table = nullptr;  // [vocab, hidden]
  Tensor out;                     // [T, hidden] dtype of the table
};

// Errors: kInvalidArgument for shapes, dtypes, and an id out of range.
Status Embedding(const ExecContext& ctx, const EmbeddingArgs& args);

}  // namespace gdn
