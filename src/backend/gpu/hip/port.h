// SPDX-License-Identifier: Apache-2.0
// The dialect of kernels for hipcc; see ../port.h.
#pragma once

#include <hip/hip_runtime.h>

#define GDN_GPU_NAMESPACE gpu_rocm
#define GDN_GLOBAL_BLOCKS(threads, blocks) GDN_GLOBAL(threads)

#include "backend/gpu/vendor_port.h"

namespace gdn::gpu_rocm {

// Of the device that is compiled for; the host's pass, which runs no kernel, sees 64.
#if defined(__GFX9__) || !defined(__HIP_DEVICE_COMPILE__)
constexpr uint32_t kWarpSize = 64;
#else
constexpr uint32_t kWarpSize = 32;
#endif

GDN_DEVICE void WarpBarrier() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

// HIP's __fsqrt_rn is the native instruction, which may be a unit off; sqrtf is rounded once.
GDN_DEVICE float Sqrt(float x) { return sqrtf(x); }

template <class T>
GDN_DEVICE T Shuffle(T value, uint32_t lane) {
  return __shfl(value, static_cast<int>(lane));
}
template <class T>
GDN_DEVICE T ShuffleXor(T value, uint32_t mask) {
  return __shfl_xor(value, static_cast<int>(mask));
}

}  // namespace gdn::gpu_rocm
