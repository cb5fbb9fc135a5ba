// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/gpu_backend.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/str.h"

namespace gdn::gpu {
namespace {

// What crosses at once.
constexpr size_t kStagingBytes = size_t{16} << 20;

}  // namespace

GpuBackend::~GpuBackend() {
  if (staging_ != nullptr) runtime_->FreeHost(staging_);
}

Result<Storage> GpuBackend::Allocate(size_t bytes, const char* purpose) {
  if (bytes == 0) return Storage();
  GDN_RETURN_IF_ERROR(stream_.status());
  Result<void*> data = runtime_->Allocate(bytes);
  if (!data.ok()) {
    return OutOfMemory(StrCat("no memory on ", runtime_->caps().name, " for ", purpose, ": ",
                              HumanBytes(bytes), " wanted: ", data.status().message()));
  }
  Storage out(*this, static_cast<std::byte*>(data.value()), bytes);
  stream_.FillZero(out.data(), bytes);
  // The host may write to it from now on.
  if (host_can_see_memory_) GDN_RETURN_IF_ERROR(stream_.Finish());
  return out;
}

// What is recorded may still use the block. Its error is what the next Finish returns.
void GpuBackend::Free(std::byte* data, size_t /*bytes*/) {
  (void)stream_.Finish();
  runtime_->Free(data);
}

Result<std::byte*> GpuBackend::Staging() {
  if (staging_ == nullptr) {
    GDN_ASSIGN_OR_RETURN(void* const data, runtime_->AllocateHost(kStagingBytes));
    staging_ = static_cast<std::byte*>(data);
  }
  return staging_;
}

Status GpuBackend::Write(void* to_device, const void* from_host, size_t bytes) {
  GDN_RETURN_IF_ERROR(stream_.Finish());
  GDN_ASSIGN_OR_RETURN(std::byte* const staging, Staging());
  stream_.CountWrite(bytes);
  for (size_t at = 0; at < bytes; at += kStagingBytes) {
    const size_t count = std::min(kStagingBytes, bytes - at);
    std::memcpy(staging, static_cast<const std::byte*>(from_host) + at, count);
    Status status = runtime_->CopyToDevice(static_cast<std::byte*>(to_device) + at, staging, count);
    if (status.ok()) status = runtime_->Wait();
    if (!status.ok()) {
      stream_.Fail(status);
      return status;
    }
  }
  return OkStatus();
}

Status GpuBackend::Read(void* to_host, const void* from_device, size_t bytes) {
  GDN_RETURN_IF_ERROR(stream_.Finish());
  GDN_ASSIGN_OR_RETURN(std::byte* const staging, Staging());
  stream_.CountRead(bytes);
  for (size_t at = 0; at < bytes; at += kStagingBytes) {
    const size_t count = std::min(kStagingBytes, bytes - at);
    Status status =
        runtime_->CopyToHost(staging, static_cast<const std::byte*>(from_device) + at, count);
    if (status.ok()) status = runtime_->Wait();
    if (!status.ok()) {
      stream_.Fail(status);
      return status;
    }
    std::memcpy(static_cast<std::byte*>(to_host) + at, staging, count);
  }
  return OkStatus();
}

Stream& StreamOf(const ExecContext& ctx) {
  GDN_CHECK(ctx.backend != nullptr && FamilyOf(ctx.device.type) == KernelFamily::kGpu);
  return static_cast<GpuBackend*>(ctx.backend)->stream();
}

}  // namespace gdn::gpu
