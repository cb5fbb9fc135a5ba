// SPDX-License-Identifier: Apache-2.0
// The kernels behind MoeRouterTopk; arguments have been validated.
#pragma once

#include "ops/moe_router_topk/moe_router_topk.h"

namespace gdn {

void MoeRouterTopkRef(const ExecContext& ctx, const MoeRouterTopkArgs& args);
void MoeRouterTopkCpu(const ExecContext& ctx, const MoeRouterTopkArgs& args);

}  // namespace gdn
