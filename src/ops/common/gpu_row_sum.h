// SPDX-License-Identifier: Apache-2.0
// The shared memory of SumOfRow (gpu_rows.h), for kernels and their launches.
#pragma once

#include "backend/gpu/shared_bytes.h"

namespace gdn::gpu {

inline constexpr uint32_t kRowSumStage = 1024;  // terms at a time
inline constexpr uint32_t kRowSumBytes = SharedBytes<float>(kRowSumStage) + SharedBytes<float>(16);

}  // namespace gdn::gpu
