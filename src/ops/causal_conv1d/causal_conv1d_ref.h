// SPDX-License-Identifier: Apache-2.0
// The kernels behind causal_conv1d.h. args have been validated.
#pragma once

#include "backend/exec_context.h"
#include "ops/causal_conv1d/causal_conv1d.h"

namespace gdn {

void RunCausalConv1dRef(const ExecContext& ctx, const CausalConv1dArgs& args);
void RunCausalConv1dCpu(const ExecContext& ctx, const CausalConv1dArgs& args);
void RunCausalConv1dVulkan(const ExecContext& ctx, const CausalConv1dArgs& args);
void RunCausalConv1dGpu(const ExecContext& ctx, const CausalConv1dArgs& args);
const char* CausalConv1dVulkanSupports(const CausalConv1dArgs& args);

}  // namespace gdn
