// SPDX-License-Identifier: Apache-2.0
// The kernels behind SigmoidMul; arguments have been validated.
#pragma once

#include "ops/sigmoid_mul/sigmoid_mul.h"

namespace gdn {

void SigmoidMulRef(const ExecContext& ctx, const SigmoidMulArgs& args);
void SigmoidMulCpu(const ExecContext& ctx, const SigmoidMulArgs& args);
void SigmoidMulVulkan(const ExecContext& ctx, const SigmoidMulArgs& args);
void SigmoidMulGpu(const ExecContext& ctx, const SigmoidMulArgs& args);

}  // namespace gdn
