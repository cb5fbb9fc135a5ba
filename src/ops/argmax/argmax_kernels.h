// SPDX-License-Identifier: Apache-2.0
// The kernels behind argmax.cc. Arguments have been validated.
#pragma once

#include "ops/argmax/argmax.h"

namespace gdn {

void ArgmaxRef(const ExecContext& ctx, const ArgmaxArgs& args);
void ArgmaxVulkan(const ExecContext& ctx, const ArgmaxArgs& args);
void ArgmaxGpu(const ExecContext& ctx, const ArgmaxArgs& args);

}  // namespace gdn
