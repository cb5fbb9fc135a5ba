// SPDX-License-Identifier: Apache-2.0
// The dialect that kernels (<op>_gpu.cu) are written in, for nvcc, hipcc and the host's compiler. A
// source of kernels includes it first and has all of its code in namespace gdn::GDN_GPU_NAMESPACE.
//
//   GDN_GLOBAL(threads)       before a kernel: void Kernel(Params), Params a struct of plain data
//   GDN_GLOBAL_BLOCKS(threads, blocks)       the same, with registers for that many blocks at once
//                             on a multiprocessor, where its compiler can be told
//   GDN_DEVICE                before a function that kernels call
//   GDN_UNROLL                before a loop whose count the compiler knows
//   ThreadIndex(), BlockX()   who runs; blocks of threads have one axis, grids three
//   kWarpSize                 32 or 64
//   Barrier(), WarpBarrier()  of all threads of the block, of the warp
//   Shuffle(value, lane), ShuffleXor(value, mask)      all lanes of the warp take part
//   SharedMemory              gives the block's shared memory piece by piece, aligned to 16 bytes;
//                             the launch says how much there is (shared_bytes.h)
//   SharedArray<T>            a piece: [i], + i. LoadPair(array, i), StorePair(array, i, pair):
//                             elements i, i + 1 of 16 bits, i even
//   Fma, Sqrt, RoundEven      rounded once; nothing else is fused (the build forbids it)
#pragma once

#include "backend/gpu/kernel.h"

#if defined(__CUDACC__)
#include "backend/gpu/cuda/port.h"
#elif defined(__HIPCC__)
#include "backend/gpu/hip/port.h"
#else
#include "backend/gpu/emu/port.h"
#endif

// The kernel of that name, declared by GDN_GPU_KERNEL in the op's host source:
//   GDN_GPU_INSTANCES(rope) = {GDN_GPU_INSTANCE(RopeParams, Rope<float>), ...};
#define GDN_GPU_INSTANCES(name)         \
  extern const gpu::KernelEntry name[]; \
  const gpu::KernelEntry name[]
#define GDN_GPU_INSTANCE(Params, ...) MakeEntry<Params, __VA_ARGS__>()
