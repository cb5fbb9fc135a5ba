// SPDX-License-Identifier: Apache-2.0
// The dialect of kernels for nvcc; see ../port.h.
#pragma once

#include <cuda_runtime.h>

#define GDN_GPU_NAMESPACE gpu_cuda
#define GDN_GLOBAL_BLOCKS(threads, blocks) __global__ __launch_bounds__(threads, blocks)

#include "backend/gpu/vendor_port.h"

namespace gdn::gpu_cuda {

constexpr uint32_t kWarpSize = 32;
constexpr uint32_t kAllLanes = 0xFFFFFFFFU;

GDN_DEVICE void WarpBarrier() { __syncwarp(); }

GDN_DEVICE float Sqrt(float x) { return __fsqrt_rn(x); }

template <class T>
GDN_DEVICE T Shuffle(T value, uint32_t lane) {
  return __shfl_sync(kAllLanes, value, static_cast<int>(lane));
}
template <class T>
GDN_DEVICE T ShuffleXor(T value, uint32_t mask) {
  return __shfl_xor_sync(kAllLanes, value, static_cast<int>(mask));
}

}  // namespace gdn::gpu_cuda
