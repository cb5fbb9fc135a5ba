// SPDX-License-Identifier: Apache-2.0
// What nvcc and hipcc have in common of the dialect of kernels; see port.h. Included by
// cuda/port.h and hip/port.h behind the vendor's header and their own macros.
#pragma once

#include <cstdint>

#include "backend/gpu/kernel.h"

#define GDN_DEVICE __device__ __forceinline__
#define GDN_GLOBAL(threads) __global__ __launch_bounds__(threads)
#define GDN_UNROLL _Pragma("unroll")

namespace gdn::GDN_GPU_NAMESPACE {

GDN_DEVICE uint32_t ThreadIndex() { return threadIdx.x; }
GDN_DEVICE uint32_t BlockThreads() { return blockDim.x; }
GDN_DEVICE uint32_t BlockX() { return blockIdx.x; }
GDN_DEVICE uint32_t BlockY() { return blockIdx.y; }
GDN_DEVICE uint32_t BlockZ() { return blockIdx.z; }
GDN_DEVICE uint32_t GridX() { return gridDim.x; }
GDN_DEVICE uint32_t GridY() { return gridDim.y; }

GDN_DEVICE void Barrier() { __syncthreads(); }

GDN_DEVICE float Fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
GDN_DEVICE float RoundEven(float x) { return rintf(x); }
GDN_DEVICE uint32_t BitsOf(float x) { return __float_as_uint(x); }
GDN_DEVICE float FloatOf(uint32_t bits) { return __uint_as_float(bits); }

template <class T>
using SharedArray = T*;

template <class T>
GDN_DEVICE uint32_t LoadPair(const T* array, uint32_t i) {
  static_assert(sizeof(T) == 2);
  return *reinterpret_cast<const uint32_t*>(array + i);
}

template <class T>
GDN_DEVICE void StorePair(T* array, uint32_t i, uint32_t pair) {
  static_assert(sizeof(T) == 2);
  *reinterpret_cast<uint32_t*>(array + i) = pair;
}

extern __shared__ __align__(16) unsigned char dynamic_shared[];

class SharedMemory {
 public:
  template <class T>
  GDN_DEVICE SharedArray<T> Take(uint32_t count) {
    T* array = reinterpret_cast<T*>(dynamic_shared + taken_);
    taken_ += (count * static_cast<uint32_t>(sizeof(T)) + 15) / 16 * 16;
    return array;
  }

 private:
  uint32_t taken_ = 0;
};

template <class Params, void (*kKernel)(Params)>
gpu::KernelEntry MakeEntry() {
  return {reinterpret_cast<const void*>(kKernel), nullptr, sizeof(Params)};
}

}  // namespace gdn::GDN_GPU_NAMESPACE
