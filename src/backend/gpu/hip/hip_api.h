// SPDX-License-Identifier: Apache-2.0
// HIP's types and calls under the names of vendor_runtime-inl.h.
#pragma once

#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <string>

#include "backend/gpu/runtime.h"
#include "base/str.h"

namespace gdn::gpu {

// There is none yet that is loaded at run time.
struct NoGemmLibrary {
  Status Open() const {
    return Unsupported("ROCm: has no matrix products but ours, want --gemm own");
  }
  Status Run(const Gemm& /*gemm*/, hipStream_t /*stream*/) const { return Open(); }
};

struct HipApi {
  using Error = hipError_t;
  using Stream = hipStream_t;
  using GraphTemplate = hipGraph_t;
  using GraphExec = hipGraphExec_t;
  using GemmLibrary = NoGemmLibrary;

  static constexpr DeviceType kType = DeviceType::kRocm;
  static constexpr const char* kName = "HIP";
  static constexpr Error kSuccess = hipSuccess;
  static constexpr Error kOutOfMemory = hipErrorOutOfMemory;
  static constexpr hipMemcpyKind kHostToDevice = hipMemcpyHostToDevice;
  static constexpr hipMemcpyKind kDeviceToHost = hipMemcpyDeviceToHost;
  static constexpr hipMemcpyKind kDeviceToDevice = hipMemcpyDeviceToDevice;

  static const KernelEntry* EntriesOf(const Kernel& kernel) { return kernel.rocm; }
  static const char* ErrorString(Error error) { return hipGetErrorString(error); }
  static Error GetLastError() { return hipGetLastError(); }

  // The start of a line that goes on in HIP's words.
  static std::string WhyNoDevices() { return "no AMD device that its driver gives to HIP; "; }

  static Error GetDeviceCount(int* count) { return hipGetDeviceCount(count); }
  static Error SetDevice(int index) { return hipSetDevice(index); }
  static Error GetCaps(int index, Caps& out) {
    hipDeviceProp_t properties{};
    if (const Error error = hipGetDeviceProperties(&properties, index); error != kSuccess) {
      return error;
    }
    int version = 0;  // major * 10^7 + minor * 10^5 + patch
    if (const Error error = hipRuntimeGetVersion(&version); error != kSuccess) return error;
    out.name = properties.name;
    // "gfx90a:sramecc+:xnack-": code without features in its name runs with any.
    out.arch = std::string(properties.gcnArchName);
    out.arch.resize(std::min(out.arch.find(':'), out.arch.size()));
    out.driver = StrCat("ROCm ", version / 10'000'000, ".", version % 10'000'000 / 100'000);
    out.memory_bytes = properties.totalGlobalMem;
    out.warp_size = static_cast<uint32_t>(properties.warpSize);
    out.max_shared_bytes = static_cast<uint32_t>(properties.sharedMemPerBlock);
    out.num_processors = static_cast<uint32_t>(properties.multiProcessorCount);
    out.unified_memory = properties.integrated != 0;
    return kSuccess;
  }

  static Error StreamCreate(Stream* stream) {
    return hipStreamCreateWithFlags(stream, hipStreamNonBlocking);
  }
  static Error StreamDestroy(Stream stream) { return hipStreamDestroy(stream); }
  static Error StreamSynchronize(Stream stream) { return hipStreamSynchronize(stream); }

  static Error Malloc(void** data, size_t bytes) { return hipMalloc(data, bytes); }
  static Error MallocManaged(void** data, size_t bytes) { return hipMallocManaged(data, bytes); }
  static Error Free(void* data) { return hipFree(data); }
  static Error MallocHost(void** data, size_t bytes) {
    return hipHostMalloc(data, bytes, hipHostMallocDefault);
  }
  static Error FreeHost(void* data) { return hipHostFree(data); }
  static Error MemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                           Stream stream) {
    return hipMemcpyAsync(to, from, bytes, kind, stream);
  }
  static Error MemsetAsync(void* data, int value, size_t bytes, Stream stream) {
    return hipMemsetAsync(data, value, bytes, stream);
  }

  // A block may have all of it unasked; older versions refuse to be asked.
  static Error RaiseSharedBytes(const void* /*function*/, int /*bytes*/) { return kSuccess; }
  static Error LaunchKernel(const void* function, const Grid& grid, uint32_t threads, void** params,
                            size_t shared_bytes, Stream stream) {
    return hipLaunchKernel(function, dim3(grid.x, grid.y, grid.z), dim3(threads), params,
                           shared_bytes, stream);
  }

  // Other threads may use the device meanwhile.
  static Error StreamBeginCapture(Stream stream) {
    return hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal);
  }
  static Error StreamEndCapture(Stream stream, GraphTemplate* graph) {
    return hipStreamEndCapture(stream, graph);
  }
  static Error GraphInstantiate(GraphExec* exec, GraphTemplate graph) {
    return hipGraphInstantiate(exec, graph, nullptr, nullptr, 0);
  }
  static Error GraphDestroy(GraphTemplate graph) { return hipGraphDestroy(graph); }
  static Error GraphExecDestroy(GraphExec exec) { return hipGraphExecDestroy(exec); }
  static Error GraphLaunch(GraphExec exec, Stream stream) { return hipGraphLaunch(exec, stream); }
};

}  // namespace gdn::gpu
