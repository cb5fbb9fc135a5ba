// SPDX-License-Identifier: Apache-2.0
// What the host gives argmax_gpu.cu.
#pragma once

#include "backend/gpu/operands.h"
#include "backend/gpu/shared_bytes.h"
#include "backend/gpu/stream.h"

namespace gdn::gpu {

struct ArgmaxParams {
  Rows x;
  int32_t* index = nullptr;  // [R]
  uint64_t num_rows = 0;
  uint64_t n = 0;
};

inline constexpr uint32_t kArgmaxSharedBytes = 2 * SharedBytes<uint32_t>(kBlockThreads);

}  // namespace gdn::gpu
