// SPDX-License-Identifier: Apache-2.0
// Memory of a Vulkan device. Every block has an address in this process, so that views of tensors,
// slices and offsets are what they are on the host: the address where the block is mapped, or,
// where the host cannot see it, one that is reserved and never readable.
#pragma once

#include <memory>
#include <vector>

#include "backend/vulkan/api.h"
#include "backend/vulkan/instance.h"
#include "tensor/storage.h"

namespace gdn::vulkan {

// Bytes of a buffer.
struct BufferRange {
  VkBuffer buffer = nullptr;
  uint64_t offset = 0;
};

class Heap final : public MemorySource {
 public:
  enum class Kind : uint8_t {
    kDevice,   // for the device's own work; mapped only where the memory is the host's as well
    kStaging,  // mapped, for what crosses
  };

  // All outlive the heap.
  Heap(const InstanceApi& instance_api, VkPhysicalDevice physical, const DeviceApi& api,
       VkDevice device, const Caps& caps, Kind kind, bool map);
  ~Heap() override;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // The block is not filled: see Device::Allocate.
  Result<Storage> Allocate(size_t bytes, const char* purpose) override;
  // The same, to be given back by Free. bytes is above 0.
  Result<std::byte*> Take(size_t bytes, const char* purpose);
  void Free(std::byte* data, size_t bytes) override;

  // Whether the host may read and write the blocks.
  bool is_mapped() const { return map_; }
  // The buffer that holds address, or one without a buffer. Valid addresses are those of a block or
  // its end.
  BufferRange Find(const void* address) const;

 private:
  struct Chunk;

  Result<Chunk*> NewChunk(size_t bytes, const char* purpose);
  Status Bind(Chunk& chunk, const char* purpose);
  void Release(Chunk& chunk) const;
  // The memory type to take of those that a buffer allows; -1 for none.
  int MemoryType(uint32_t allowed) const;

  const InstanceApi& instance_api_;
  VkPhysicalDevice physical_;
  const DeviceApi& api_;
  VkDevice device_;
  const Caps& caps_;
  Kind kind_;
  bool map_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace gdn::vulkan
