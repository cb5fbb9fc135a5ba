// SPDX-License-Identifier: Apache-2.0
// What the operators over a Weight ask of their arguments.
#pragma once

#include "base/status.h"
#include "ops/linear/weight.h"

namespace gdn {

// x [M, K] of the weight's dtype; out [M, N] of any dtype, rows apart, not overlapping x.
Status CheckLinear(const char* op, const ConstTensor& x, const Weight* weight, const Tensor& out);

}  // namespace gdn
