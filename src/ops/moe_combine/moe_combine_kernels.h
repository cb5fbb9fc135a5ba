// SPDX-License-Identifier: Apache-2.0
// The kernels behind MoeCombine; arguments have been validated.
#pragma once

#include "ops/moe_combine/moe_combine.h"

namespace gdn {

void MoeCombineRef(const ExecContext& ctx, const MoeCombineArgs& args);
void MoeCombineCpu(const ExecContext& ctx, const MoeCombineArgs& args);

}  // namespace gdn
