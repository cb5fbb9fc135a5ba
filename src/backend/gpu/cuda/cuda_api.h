// SPDX-License-Identifier: Apache-2.0
// CUDA's types and calls under the names of vendor_runtime-inl.h.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "backend/gpu/cuda/cublaslt.h"
#include "backend/gpu/runtime.h"
#include "base/str.h"

namespace gdn::gpu {

struct CudaApi {
  using Error = cudaError_t;
  using Stream = cudaStream_t;
  using GraphTemplate = cudaGraph_t;
  using GraphExec = cudaGraphExec_t;
  using GemmLibrary = CublasLt;

  static constexpr DeviceType kType = DeviceType::kCuda;
  static constexpr const char* kName = "CUDA";
  static constexpr Error kSuccess = cudaSuccess;
  static constexpr Error kOutOfMemory = cudaErrorMemoryAllocation;
  static constexpr cudaMemcpyKind kHostToDevice = cudaMemcpyHostToDevice;
  static constexpr cudaMemcpyKind kDeviceToHost = cudaMemcpyDeviceToHost;
  static constexpr cudaMemcpyKind kDeviceToDevice = cudaMemcpyDeviceToDevice;

  static const KernelEntry* EntriesOf(const Kernel& kernel) { return kernel.cuda; }
  static const char* ErrorString(Error error) { return cudaGetErrorString(error); }
  static Error GetLastError() { return cudaGetLastError(); }

  // "13.0" of 13000.
  static std::string VersionText(int version) {
    return StrCat(version / 1000, ".", version % 1000 / 10);
  }
  // The driver's version, 0 where there is none.
  static int DriverVersion() {
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
  }
  // The start of a line that goes on in CUDA's words.
  static std::string WhyNoDevices() {
    const int driver = DriverVersion();
    if (driver == 0) return "no NVIDIA driver; ";
    if (driver / 1000 < CUDART_VERSION / 1000) {
      return StrCat("the NVIDIA driver is for CUDA ", VersionText(driver), ", this build for ",
                    VersionText(CUDART_VERSION), "; ");
    }
    return "no NVIDIA device; ";
  }

  static Error GetDeviceCount(int* count) { return cudaGetDeviceCount(count); }
  static Error SetDevice(int index) { return cudaSetDevice(index); }
  static Error GetCaps(int index, Caps& out) {
    cudaDeviceProp properties{};
    if (const Error error = cudaGetDeviceProperties(&properties, index); error != kSuccess) {
      return error;
    }
    out.name = properties.name;
    out.arch = StrCat("sm_", properties.major, properties.minor);
    out.driver = StrCat(kName, " ", VersionText(DriverVersion()));
    out.memory_bytes = properties.totalGlobalMem;
    out.warp_size = static_cast<uint32_t>(properties.warpSize);
    out.max_shared_bytes = static_cast<uint32_t>(properties.sharedMemPerBlockOptin);
    out.num_processors = static_cast<uint32_t>(properties.multiProcessorCount);
    out.unified_memory = properties.integrated != 0;
    return kSuccess;
  }

  static Error StreamCreate(Stream* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
  }
  static Error StreamDestroy(Stream stream) { return cudaStreamDestroy(stream); }
  static Error StreamSynchronize(Stream stream) { return cudaStreamSynchronize(stream); }

  static Error Malloc(void** data, size_t bytes) { return cudaMalloc(data, bytes); }
  static Error MallocManaged(void** data, size_t bytes) { return cudaMallocManaged(data, bytes); }
  static Error Free(void* data) { return cudaFree(data); }
  static Error MallocHost(void** data, size_t bytes) { return cudaMallocHost(data, bytes); }
  static Error FreeHost(void* data) { return cudaFreeHost(data); }
  static Error MemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                           Stream stream) {
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
  }
  static Error MemsetAsync(void* data, int value, size_t bytes, Stream stream) {
    return cudaMemsetAsync(data, value, bytes, stream);
  }

  static Error RaiseSharedBytes(const void* function, int bytes) {
    cudaFuncAttributes attributes{};
    if (const Error error = cudaFuncGetAttributes(&attributes, function); error != kSuccess) {
      return error;
    }
    // What a kernel declares statically is of the same memory.
    return cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                bytes - static_cast<int>(attributes.sharedSizeBytes));
  }
  static Error LaunchKernel(const void* function, const Grid& grid, uint32_t threads, void** params,
                            size_t shared_bytes, Stream stream) {
    return cudaLaunchKernel(function, dim3(grid.x, grid.y, grid.z), dim3(threads), params,
                            shared_bytes, stream);
  }

  // Other threads may use the device meanwhile.
  static Error StreamBeginCapture(Stream stream) {
    return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  }
  static Error StreamEndCapture(Stream stream, GraphTemplate* graph) {
    return cudaStreamEndCapture(stream, graph);
  }
  static Error GraphInstantiate(GraphExec* exec, GraphTemplate graph) {
    return cudaGraphInstantiateWithFlags(exec, graph, 0);
  }
  static Error GraphDestroy(GraphTemplate graph) { return cudaGraphDestroy(graph); }
  static Error GraphExecDestroy(GraphExec exec) { return cudaGraphExecDestroy(exec); }
  static Error GraphLaunch(GraphExec exec, Stream stream) { return cudaGraphLaunch(exec, stream); }
};

}  // namespace gdn::gpu
