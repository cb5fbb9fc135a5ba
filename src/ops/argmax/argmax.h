// SPDX-License-Identifier: Apache-2.0
// The first largest element of each row, as greedy sampling takes it (engine/sampler.h): ties go to
// the lower index, the two zeros are equal, NaN and -inf are never chosen.
#pragma once

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

struct ArgmaxArgs {
  ConstTensor x;  // [R, n] f32; rows may be strided
  Tensor index;   // [R] i32, out; -1 for a row without a number above -inf
};

// Errors: kInvalidArgument for shapes, dtypes and overlaps.
Status Argmax(const ExecContext& ctx, const ArgmaxArgs& args);

}  // namespace gdn
