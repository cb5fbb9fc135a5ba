// SPDX-License-Identifier: Apache-2.0
// The kernels behind RmsNorm; arguments have been validated.
#pragma once

#include "ops/rms_norm/rms_norm.h"

namespace gdn {

void RmsNormRef(const ExecContext& ctx, const RmsNormArgs& args);
void RmsNormCpu(const ExecContext& ctx, const RmsNormArgs& args);
void RmsNormVulkan(const ExecContext& ctx, const RmsNormArgs& args);
void RmsNormGpu(const ExecContext& ctx, const RmsNormArgs& args);

}  // namespace gdn
