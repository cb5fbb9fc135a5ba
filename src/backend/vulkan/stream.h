// SPDX-License-Identifier: Apache-2.0
// The work of a Vulkan device in order: dispatches, copies, fills, recorded into one command buffer
// until Finish submits it and waits.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/vulkan/api.h"
#include "backend/vulkan/heap.h"
#include "backend/vulkan/pipelines.h"
#include "tensor/tensor.h"

namespace gdn::vulkan {

// Bytes that a shader sees as one storage buffer, bound from a multiple of the device's alignment
// on: Stream::Base says where in it the first byte lies.
struct Operand {
  const void* data = nullptr;
  size_t bytes = 0;
  bool writes = false;
};

struct Groups {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

class Stream {
 public:
  // All outlive the stream.
  Stream(const DeviceApi& api, VkDevice device, VkQueue queue, const Caps& caps, Heap& heap,
         Heap& staging, Pipelines& pipelines);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Status Create();

  const Caps& caps() const { return caps_; }
  const DeviceWork& counts() const { return counts_; }

  // Elements between the beginning of the buffer that an operand becomes and its first one. data is
  // aligned to its elements.
  uint32_t Base(const void* data, size_t element_bytes) const;
  uint32_t Base(const ConstTensor& tensor) const { return Base(tensor.data, SizeOf(tensor.dtype)); }

  // Runs a shader after all that it may depend on. push is a struct of 4-byte fields. An operand
  // without data is bound to bytes that the shader must not use.
  template <class Push>
  void Dispatch(const Shader& shader, DType dtype, std::span<const Operand> operands,
                const Push& push, std::span<const uint32_t> constants, const Groups& groups) {
    static_assert(std::is_trivially_copyable_v<Push> && sizeof(Push) % 4 == 0 &&
                  sizeof(Push) <= 128);
    DispatchBytes(shader, dtype, operands, &push, sizeof push, constants, groups);
  }
  // The host's values for shaders of this run; valid until Finish.
  const void* Upload(const void* data, size_t bytes);
  template <class T>
  const T* Upload(std::span<const T> values) {
    return static_cast<const T*>(Upload(values.data(), values.size_bytes()));
  }
  void Copy(void* to, const void* from, size_t bytes);
  void FillZero(void* data, size_t bytes);

  // Waits for all of it. The first error is returned from then on.
  Status Finish();
  const Status& status() const { return status_; }
  // What could not be recorded is an error of Finish.
  void Fail(Status status);
  void CountRead(size_t bytes) { counts_.bytes_to_host += static_cast<int64_t>(bytes); }

 private:
  struct Access {
    const std::byte* begin;
    const std::byte* end;
    bool writes;
  };
  struct Page {
    Storage storage;
    size_t used = 0;
  };

  bool Begin();
  void DispatchBytes(const Shader& shader, DType dtype, std::span<const Operand> operands,
                     const void* push, uint32_t push_bytes, std::span<const uint32_t> constants,
                     const Groups& groups);
  // Orders what follows behind what it depends on.
  void Order(std::span<const Operand> operands);
  BufferRange Find(const void* data) const;
  VkDescriptorSet NewSet(VkDescriptorSetLayout layout);
  Status Submit();

  const DeviceApi& api_;
  VkDevice device_;
  VkQueue queue_;
  const Caps& caps_;
  Heap& heap_;
  Heap& staging_;
  Pipelines& pipelines_;

  VkCommandPool command_pool_ = nullptr;
  VkCommandBuffer commands_ = nullptr;
  VkSemaphore done_ = nullptr;  // a timeline: the number of submits
  uint64_t num_submits_ = 0;
  bool recording_ = false;
  std::vector<VkDescriptorPool> pools_;
  size_t pool_ = 0;               // the one in use
  uint32_t sets_left_ = 0;        // in it
  std::vector<Page> pages_;       // of uploads
  std::vector<Access> accesses_;  // since the last barrier
  Status status_;
  DeviceWork counts_;
};

}  // namespace gdn::vulkan
