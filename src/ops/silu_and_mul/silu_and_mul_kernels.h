// SPDX-License-Identifier: Apache-2.0
// The kernels behind SiluAndMul; arguments have been validated.
#pragma once

#include "ops/silu_and_mul/silu_and_mul.h"

namespace gdn {

void SiluAndMulRef(const ExecContext& ctx, const SiluAndMulArgs& args);
void SiluAndMulCpu(const ExecContext& ctx, const SiluAndMulArgs& args);
void SiluAndMulVulkan(const ExecContext& ctx, const SiluAndMulArgs& args);
void SiluAndMulGpu(const ExecContext& ctx, const SiluAndMulArgs& args);

}  // namespace gdn
