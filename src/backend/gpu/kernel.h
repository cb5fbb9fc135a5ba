// SPDX-License-Identifier: Apache-2.0
// A kernel as the host sees it: compiled once for each vendor and for the emulation, from one
// source
// (<op>_gpu.cu). Those of vendors that this build leaves out are null.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdn::gpu {

// Blocks of a launch. Blocks of threads have one axis.
struct Grid {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

// An instance of a kernel template, of one vendor.
struct KernelEntry {
  const void* function = nullptr;             // what the vendor's launch takes
  void (*run)(const void* params) = nullptr;  // the emulation: one thread's part
  uint32_t params_bytes = 0;                  // of the only parameter, a struct of plain data
};

// The instances of a kernel, in the order that its launcher and its source agree on.
struct Kernel {
  const char* name = nullptr;
  const KernelEntry* emu32 = nullptr;  // warps of 32
  const KernelEntry* emu64 = nullptr;  // and of 64
  const KernelEntry* cuda = nullptr;
  const KernelEntry* rocm = nullptr;
};

// A vendor's instances, or null: for GDN_GPU_KERNEL.
constexpr const KernelEntry* OrNull() { return nullptr; }
constexpr const KernelEntry* OrNull(const KernelEntry* entries) { return entries; }

}  // namespace gdn::gpu

// At global scope, in the host's source of an op: gdn::gpu::kernels::name, whose instances the op's
// .cu lists with GDN_GPU_INSTANCES(name).
#define GDN_GPU_KERNEL(name)                                                     \
  namespace gdn::gpu_emu32 {                                                     \
  extern const gpu::KernelEntry name[];                                          \
  }                                                                              \
  namespace gdn::gpu_emu64 {                                                     \
  extern const gpu::KernelEntry name[];                                          \
  }                                                                              \
  GDN_IF_CUDA(namespace gdn::gpu_cuda { extern const gpu::KernelEntry name[]; }) \
  GDN_IF_ROCM(namespace gdn::gpu_rocm { extern const gpu::KernelEntry name[]; }) \
  namespace gdn::gpu::kernels {                                                  \
  constexpr Kernel name = {#name, gpu_emu32::name, gpu_emu64::name,              \
                           OrNull(GDN_IF_CUDA(gpu_cuda::name)),                  \
                           OrNull(GDN_IF_ROCM(gpu_rocm::name))};                 \
  }
