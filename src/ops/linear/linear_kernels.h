// SPDX-License-Identifier: Apache-2.0
// The kernels behind linear.cc. Arguments have been validated.
#pragma once

#include "ops/linear/linear.h"

namespace gdn {

void LinearRef(const ExecContext& ctx, const LinearArgs& args);

// Panels only.
void LinearCpu(const ExecContext& ctx, const LinearArgs& args);

}  // namespace gdn
