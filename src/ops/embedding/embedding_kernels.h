// SPDX-License-Identifier: Apache-2.0
// The kernels behind embedding.cc. Arguments have been validated.
#pragma once

#include "ops/embedding/embedding.h"

namespace gdn {

void EmbeddingRef(const ExecContext& ctx, const EmbeddingArgs& args);
void EmbeddingCpu(const ExecContext& ctx, const EmbeddingArgs& args);
void EmbeddingVulkan(const ExecContext& ctx, const EmbeddingArgs& args);
void EmbeddingGpu(const ExecContext& ctx, const EmbeddingArgs& args);

}  // namespace gdn
