// SPDX-License-Identifier: Apache-2.0
// The kernels behind Rope; arguments have been validated.
#pragma once

#include "ops/rope/rope.h"

namespace gdn {

void RopeRef(const ExecContext& ctx, const RopeArgs& args);
void RopeCpu(const ExecContext& ctx, const RopeArgs& args);
void RopeVulkan(const ExecContext& ctx, const RopeArgs& args);
void RopeGpu(const ExecContext& ctx, const RopeArgs& args);

}  // namespace gdn
