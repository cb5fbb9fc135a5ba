// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/heap.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/check.h"
#include "base/str.h"

namespace gdn::vulkan {
namespace {

// Blocks share chunks, since drivers bound the number of allocations: a share of the memory, so
// that small ones do not take much of a small device.
size_t ChunkBytes(const Caps& caps) {
  constexpr uint64_t kLeast = uint64_t{8} << 20;
  constexpr uint64_t kMost = uint64_t{256} << 20;
  return std::clamp(caps.memory_bytes / 256, kLeast, kMost);
}

size_t RoundUp(size_t bytes) {
  return (bytes + Storage::kAlignment - 1) / Storage::kAlignment * Storage::kAlignment;
}

}  // namespace

struct Heap::Chunk {
  VkBuffer buffer = nullptr;
  VkDeviceMemory memory = nullptr;
  std::byte* base = nullptr;
  size_t bytes = 0;
  size_t used = 0;     // from the beginning on; taken back when all blocks are free
  int64_t blocks = 0;  // that are not free
};

Heap::Heap(const InstanceApi& instance_api, VkPhysicalDevice physical, const DeviceApi& api,
           VkDevice device, const Caps& caps, Kind kind, bool map)
    : instance_api_(instance_api),
      physical_(physical),
      api_(api),
      device_(device),
      caps_(caps),
      kind_(kind),
      map_(map) {}

Heap::~Heap() {
  for (const auto& chunk : chunks_) Release(*chunk);
}

int Heap::MemoryType(uint32_t allowed) const {
  VkPhysicalDeviceMemoryProperties2 memory = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  instance_api_.GetPhysicalDeviceMemoryProperties2(physical_, &memory);
  const VkMemoryPropertyFlags mapped =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const VkMemoryPropertyFlags local = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  const VkMemoryPropertyFlags wanted = (map_ ? mapped : 0U) | (kind_ == Kind::kDevice ? local : 0U);
  int found = -1;
  bool cached = false;
  for (uint32_t i = 0; i < memory.memoryProperties.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryProperties.memoryTypes[i].propertyFlags;
    if ((allowed & (1U << i)) == 0 || (flags & wanted) != wanted) continue;
    // The host reads logits out of staging memory: cached where there is such.
    const bool is_cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    if (found < 0 || (map_ && is_cached && !cached)) {
      found = static_cast<int>(i);
      cached = is_cached;
    }
  }
  return found;
}

Status Heap::Bind(Chunk& chunk, const char* purpose) {
  const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .size = chunk.bytes,
                                   .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                                            VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                            VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                   .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  VkResult result = api_.CreateBuffer(device_, &info, nullptr, &chunk.buffer);
  if (result != VK_SUCCESS) return ErrorOf(purpose, result);
  VkMemoryRequirements needs{};
  api_.GetBufferMemoryRequirements(device_, chunk.buffer, &needs);
  const int type = MemoryType(needs.memoryTypeBits);
  if (type < 0) return Unsupported(StrCat("vulkan: the device has no memory for ", purpose));
  const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex = static_cast<uint32_t>(type)};
  result = api_.AllocateMemory(device_, &allocate, nullptr, &chunk.memory);
  if (result != VK_SUCCESS) {
    return OutOfMemory(StrCat("vulkan: no device memory for ", purpose, ": ",
                              HumanBytes(chunk.bytes), " wanted: ", Name(result)));
  }
  result = api_.BindBufferMemory(device_, chunk.buffer, chunk.memory, 0);
  if (result != VK_SUCCESS) return ErrorOf(purpose, result);
  void* address = nullptr;
  if (map_) {
    result = api_.MapMemory(device_, chunk.memory, 0, VK_WHOLE_SIZE, 0, &address);
    if (result != VK_SUCCESS) return ErrorOf(purpose, result);
  } else {
    address =
        mmap(nullptr, chunk.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) return OutOfMemory(StrCat("no addresses for ", purpose));
  }
  chunk.base = static_cast<std::byte*>(address);
  return OkStatus();
}

void Heap::Release(Chunk& chunk) const {
  if (!map_ && chunk.base != nullptr) munmap(chunk.base, chunk.bytes);
  api_.DestroyBuffer(device_, chunk.buffer, nullptr);
  api_.FreeMemory(device_, chunk.memory, nullptr);
}

Result<Heap::Chunk*> Heap::NewChunk(size_t bytes, const char* purpose) {
  auto chunk = std::make_unique<Chunk>();
  chunk->bytes = std::max(bytes, kind_ == Kind::kDevice ? ChunkBytes(caps_) : 0);
  const Status status = Bind(*chunk, purpose);
  if (!status.ok()) {
    Release(*chunk);
    return status;
  }
  chunks_.push_back(std::move(chunk));
  return chunks_.back().get();
}

Result<Storage> Heap::Allocate(size_t bytes, const char* purpose) {
  if (bytes == 0) return Storage();
  GDN_ASSIGN_OR_RETURN(std::byte* const data, Take(bytes, purpose));
  return Storage(*this, data, bytes);
}

Result<std::byte*> Heap::Take(size_t bytes, const char* purpose) {
  const size_t wanted = RoundUp(bytes);
  Chunk* chunk = nullptr;
  for (const auto& there : chunks_) {
    if (there->bytes - there->used >= wanted) chunk = there.get();
  }
  if (chunk == nullptr) {
    GDN_ASSIGN_OR_RETURN(chunk, NewChunk(wanted, purpose));
  }
  std::byte* data = chunk->base + chunk->used;
  chunk->used += wanted;
  ++chunk->blocks;
  return data;
}

void Heap::Free(std::byte* data, size_t /*bytes*/) {
  const auto chunk = std::ranges::find_if(
      chunks_, [&](const auto& c) { return data >= c->base && data < c->base + c->bytes; });
  GDN_CHECK(chunk != chunks_.end());
  if (--(*chunk)->blocks > 0) return;
  Release(**chunk);
  chunks_.erase(chunk);
}

BufferRange Heap::Find(const void* address) const {
  const auto* data = static_cast<const std::byte*>(address);
  for (const auto& chunk : chunks_) {
    if (data >= chunk->base && data < chunk->base + chunk->bytes) {
      return {chunk->buffer, static_cast<uint64_t>(data - chunk->base)};
    }
  }
  return {};
}

}  // namespace gdn::vulkan
