// SPDX-License-Identifier: Apache-2.0
// The kernels behind gdn_prep.h, and what they share. args have been validated.
#pragma once

#include "backend/exec_context.h"
#include "ops/gdn_prep/gdn_prep.h"

namespace gdn {

void RunGdnPrepRef(const ExecContext& ctx, const GdnPrepArgs& args);
void RunGdnPrepCpu(const ExecContext& ctx, const GdnPrepArgs& args);
void RunGdnPrepVulkan(const ExecContext& ctx, const GdnPrepArgs& args);
void RunGdnPrepGpu(const ExecContext& ctx, const GdnPrepArgs& args);

inline constexpr float kL2NormEpsilon = 1e-6F;

// log_decay and beta of one token, all value heads.
void PrepGates(const GdnPrepArgs& args, int64_t token);

}  // namespace gdn
