// SPDX-License-Identifier: Apache-2.0
// How far an output is from its golden.
#pragma once

#include <cstdint>

#include "tensor/tensor.h"

namespace gdn {

struct Distance {
  int64_t elements = 0;
  int64_t differ = 0;    // bit for bit, after rounding to dtype
  DType dtype;           // the golden's, or bf16: see Compare
  double max_abs = 0;    // of the output as it is; infinite where one is NaN and the other is not
  double nmse = 0;       // sum((got - want)^2) / sum(want^2)
  double largest = 0;    // largest magnitude in the golden
  int64_t max_ulps = 0;  // of an element in 16 bits, in steps of dtype
};

// got and want: contiguous, of one shape; both floats or both i32. widened: whether an f32 golden
// that holds only bf16 values counts as bf16, as dumps of 16-bit models store them.
Distance Compare(const ConstTensor& got, const ConstTensor& want, bool widened = false);

}  // namespace gdn
