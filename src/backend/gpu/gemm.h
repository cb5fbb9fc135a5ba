// SPDX-License-Identifier: Apache-2.0
// A matrix product for the vendor's own library.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace gdn::gpu {

// out[m, n] = sum over k of x[m, k] * weight[n, k], added in f32 in the library's order, which may
// depend on every size here, m among them. No product is empty.
struct Gemm {
  const void* x = nullptr;  // [m, k] dtype, rows x_stride elements apart
  int64_t x_stride = 0;
  const void* weight = nullptr;  // [n, k] dtype, contiguous
  void* out = nullptr;           // [m, n] out_dtype, rows out_stride elements apart
  int64_t out_stride = 0;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  DType dtype = DType::kF32;
  DType out_dtype = DType::kF32;  // dtype or f32

  bool operator==(const Gemm& other) const = default;
};

}  // namespace gdn::gpu
