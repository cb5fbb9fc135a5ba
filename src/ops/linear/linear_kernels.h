// SPDX-License-Identifier: Apache-2.0
// The kernels behind linear.cc. Arguments have been validated.
#pragma once

#include "ops/linear/linear.h"
#include "ops/linear/linear_silu_and_mul.h"

namespace gdn {

void LinearRef(const ExecContext& ctx, const LinearArgs& args);

// Panels only.
void LinearCpu(const ExecContext& ctx, const LinearArgs& args);
void LinearVulkan(const ExecContext& ctx, const LinearArgs& args);
void LinearGpu(const ExecContext& ctx, const LinearArgs& args);

// Of linear_silu_and_mul.cc.
void LinearSiluAndMulRef(const ExecContext& ctx, const LinearSiluAndMulArgs& args);
void LinearSiluAndMulCpu(const ExecContext& ctx, const LinearSiluAndMulArgs& args);  // panels only
void LinearSiluAndMulVulkan(const ExecContext& ctx, const LinearSiluAndMulArgs& args);
void LinearSiluAndMulGpu(const ExecContext& ctx, const LinearSiluAndMulArgs& args);

}  // namespace gdn
