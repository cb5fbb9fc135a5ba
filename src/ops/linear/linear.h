// SPDX-License-Identifier: Apache-2.0
// Linear layer without bias: out = x W^T.
//
// out[m, n] = R( sum_k x[m, k] * w[n, k] ), products and sum in f32, k ascending with one
// accumulator an output and fma, whatever M is: row m of any batch has the bits that it has alone.
// R is one rounding to round_to.
#pragma once

#include "backend/exec_context.h"
#include "base/status.h"
#include "ops/linear/weight.h"

namespace gdn {

struct LinearArgs {
  ConstTensor x;                   // [M, K] dtype of the weight; rows may be strided
  const Weight* weight = nullptr;  // [N, K]
  DType round_to = DType::kF32;    // precision of the result: dtype of x, or f32 for none
  Tensor out;  // [M, N] round_to, or f32 holding values of that precision; rows may be strided
};

// Errors: kInvalidArgument for shapes and dtypes. out must not alias x.
Status Linear(const ExecContext& ctx, const LinearArgs& args);

// Bytes of ctx.scratch that Linear may use for up to max_rows rows of up to max_cols inputs.
size_t LinearScratchBytes(int64_t max_rows, int64_t max_cols, int num_threads);

}  // namespace gdn
