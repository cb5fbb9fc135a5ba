// SPDX-License-Identifier: Apache-2.0
// A Vulkan device behind the interface of all backends.
#pragma once

#include <memory>
#include <string>

#include "backend/backend.h"
#include "backend/exec_context.h"
#include "backend/vulkan/heap.h"
#include "backend/vulkan/pipelines.h"
#include "backend/vulkan/stream.h"

namespace gdn::vulkan {

class VulkanBackend final : public Backend, private MemorySource {
 public:
  // How the host reaches the device's memory.
  enum class Crossing : uint8_t {
    kBest,    // mapped where the memory is the host's as well, else by copies
    kCopies,  // by copies, for tests of the way of devices with memory of their own
    kMapped,  // mapped always, be it slower for the device
  };
  // index: of Instance::devices(). cache_folder: of compiled pipelines; "": none.
  // Errors: kUnsupported, naming the device and what it lacks.
  static Result<std::unique_ptr<VulkanBackend>> Open(int index, Crossing crossing,
                                                     const std::string& cache_folder);
  ~VulkanBackend() override;

  Device device() const override { return {DeviceType::kVulkan, index_}; }
  MemorySource& memory() override { return *this; }
  Status Write(void* to_device, const void* from_host, size_t bytes) override;
  Status Read(void* to_host, const void* from_device, size_t bytes) override;
  void Copy(void* to, const void* from, size_t bytes) override { stream_->Copy(to, from, bytes); }
  Status Finish() override { return stream_->Finish(); }
  DeviceWork work() const override { return stream_->counts(); }

  Stream& stream() { return *stream_; }

 private:
  VulkanBackend(const Instance& instance, int index);
  Status Create(Crossing crossing, const std::string& cache_folder);
  Result<Storage> Allocate(size_t bytes, const char* purpose) override;
  void Free(std::byte* data, size_t bytes) override;

  const Instance& instance_;
  int index_;
  const Instance::Physical& physical_;
  VkDevice device_ = nullptr;
  DeviceApi api_;
  std::unique_ptr<Heap> heap_;
  std::unique_ptr<Heap> staging_;
  std::unique_ptr<Pipelines> pipelines_;
  std::unique_ptr<Stream> stream_;
  Storage read_back_;  // what Read brings through host memory
};

// The stream that an operator of this device records into.
Stream& StreamOf(const ExecContext& ctx);

}  // namespace gdn::vulkan
