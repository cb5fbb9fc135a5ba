// SPDX-License-Identifier: Apache-2.0
// The kernels behind RmsNormGated; arguments have been validated.
#pragma once

#include "ops/rms_norm_gated/rms_norm_gated.h"

namespace gdn {

void RmsNormGatedRef(const ExecContext& ctx, const RmsNormGatedArgs& args);
void RmsNormGatedCpu(const ExecContext& ctx, const RmsNormGatedArgs& args);
void RmsNormGatedVulkan(const ExecContext& ctx, const RmsNormGatedArgs& args);
void RmsNormGatedGpu(const ExecContext& ctx, const RmsNormGatedArgs& args);

}  // namespace gdn
