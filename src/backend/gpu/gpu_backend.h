// SPDX-License-Identifier: Apache-2.0
// A CUDA or ROCm device, or the emulation of one, behind the interface of all backends.
#pragma once

#include <memory>

#include "backend/backend.h"
#include "backend/exec_context.h"
#include "backend/gpu/runtime.h"
#include "backend/gpu/stream.h"

namespace gdn::gpu {

class GpuBackend final : public Backend, private MemorySource {
 public:
  // host_can_see_memory: as in BackendOptions; the runtime allocates such memory.
  GpuBackend(std::unique_ptr<Runtime> runtime, int index, bool host_can_see_memory = false)
      : runtime_(std::move(runtime)),
        index_(index),
        host_can_see_memory_(host_can_see_memory),
        stream_(*runtime_) {}
  ~GpuBackend() override;

  Device device() const override { return {runtime_->type(), index_}; }
  MemorySource& memory() override { return *this; }
  Status Write(void* to_device, const void* from_host, size_t bytes) override;
  Status Read(void* to_host, const void* from_device, size_t bytes) override;
  void Copy(void* to, const void* from, size_t bytes) override { stream_.Copy(to, from, bytes); }
  Status Finish() override { return stream_.Finish(); }
  DeviceWork work() const override { return stream_.counts(); }
  bool has_vendor_gemm() const override { return stream_.has_gemm(); }

  Stream& stream() { return stream_; }

 private:
  Result<Storage> Allocate(size_t bytes, const char* purpose) override;
  void Free(std::byte* data, size_t bytes) override;
  Result<std::byte*> Staging();

  std::unique_ptr<Runtime> runtime_;
  int index_;
  bool host_can_see_memory_;
  Stream stream_;
  std::byte* staging_ = nullptr;  // of the host, for what crosses
};

// The stream that an operator of this device records into.
Stream& StreamOf(const ExecContext& ctx);

}  // namespace gdn::gpu
