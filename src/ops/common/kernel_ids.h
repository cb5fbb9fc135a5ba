// SPDX-License-Identifier: Apache-2.0
// The ids of a kernel that exists for each float dtype.
#pragma once

#include "base/check.h"
#include "tensor/dtype.h"

namespace gdn {

struct FloatKernelIds {
  const char* f32;
  const char* f16;
  const char* bf16;

  const char* Of(DType dtype) const {
    switch (dtype) {
      case DType::kF16:
        return f16;
      case DType::kBf16:
        return bf16;
      default:
        GDN_CHECK(dtype == DType::kF32);
        return f32;
    }
  }
};

}  // namespace gdn
