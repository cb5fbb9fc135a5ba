// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/stream.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/copy_bytes.h"
#include "base/str.h"

namespace gdn::vulkan {
namespace {

constexpr size_t kMaxOperands = 12;
constexpr uint32_t kSetsOfAPool = 512;
constexpr size_t kPageBytes = size_t{1} << 20;
// Longer than any step: a device that takes so long hangs.
constexpr uint64_t kPatienceNs = uint64_t{300} * 1000 * 1000 * 1000;

size_t AlignUp(size_t bytes, size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

Stream::Stream(const DeviceApi& api, VkDevice device, VkQueue queue, const Caps& caps, Heap& heap,
               Heap& staging, Pipelines& pipelines)
    : api_(api),
      device_(device),
      queue_(queue),
      caps_(caps),
      heap_(heap),
      staging_(staging),
      pipelines_(pipelines) {}

Status Stream::Create() {
  const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                        .queueFamilyIndex = caps_.queue_family};
  VkResult result = api_.CreateCommandPool(device_, &pool, nullptr, &command_pool_);
  if (result != VK_SUCCESS) return ErrorOf("a command pool", result);
  const VkCommandBufferAllocateInfo buffer = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = command_pool_,
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1};
  result = api_.AllocateCommandBuffers(device_, &buffer, &commands_);
  if (result != VK_SUCCESS) return ErrorOf("a command buffer", result);
  const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                          .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                           .pNext = &type};
  result = api_.CreateSemaphore(device_, &semaphore, nullptr, &done_);
  if (result != VK_SUCCESS) return ErrorOf("a timeline semaphore", result);
  return OkStatus();
}

Stream::~Stream() {
  for (const VkDescriptorPool pool : pools_) api_.DestroyDescriptorPool(device_, pool, nullptr);
  api_.DestroySemaphore(device_, done_, nullptr);
  api_.DestroyCommandPool(device_, command_pool_, nullptr);
}

void Stream::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

BufferRange Stream::Find(const void* data) const {
  const BufferRange range = heap_.Find(data);
  return range.buffer != nullptr ? range : staging_.Find(data);
}

uint32_t Stream::Base(const void* data, size_t element_bytes) const {
  const BufferRange range = Find(data);
  return static_cast<uint32_t>(range.offset % caps_.storage_alignment / element_bytes);
}

bool Stream::Begin() {
  if (!status_.ok()) return false;
  if (recording_) return true;
  const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                         .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
  const VkResult result = api_.BeginCommandBuffer(commands_, &info);
  if (result != VK_SUCCESS) Fail(ErrorOf("a command buffer", result));
  recording_ = status_.ok();
  return recording_;
}

const void* Stream::Upload(const void* data, size_t bytes) {
  const size_t taken = AlignUp(std::max<size_t>(bytes, 4), 256);
  if (pages_.empty() || pages_.back().storage.size_bytes() - pages_.back().used < taken) {
    Result<Storage> storage = staging_.Allocate(std::max(taken, kPageBytes), "what a step uploads");
    if (!storage.ok()) {
      Fail(storage.status());
      return nullptr;
    }
    pages_.push_back({std::move(storage).value(), 0});
  }
  Page& page = pages_.back();
  std::byte* to = page.storage.data() + page.used;
  CopyBytes(to, data, bytes);
  page.used += taken;
  counts_.bytes_to_device += static_cast<int64_t>(bytes);
  return to;
}

void Stream::Order(std::span<const Operand> operands) {
  const auto conflicts = [&](const Operand& operand) {
    const auto* begin = static_cast<const std::byte*>(operand.data);
    return std::ranges::any_of(accesses_, [&](const Access& access) {
      return (access.writes || operand.writes) && begin < access.end &&
             access.begin < begin + operand.bytes;
    });
  };
  if (std::ranges::any_of(operands, conflicts)) {
    const VkPipelineStageFlags stages =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                         VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    api_.CmdPipelineBarrier(commands_, stages, stages, 0, 1, &barrier, 0, nullptr, 0, nullptr);
    accesses_.clear();
  }
  for (const Operand& operand : operands) {
    if (operand.data == nullptr) continue;
    const auto* begin = static_cast<const std::byte*>(operand.data);
    accesses_.push_back({begin, begin + operand.bytes, operand.writes});
  }
}

VkDescriptorSet Stream::NewSet(VkDescriptorSetLayout layout) {
  for (;; ++pool_) {
    if (pool_ == pools_.size()) {
      const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                         kSetsOfAPool * kMaxOperands};
      const VkDescriptorPoolCreateInfo info = {
          .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
          .maxSets = kSetsOfAPool,
          .poolSizeCount = 1,
          .pPoolSizes = &size};
      VkDescriptorPool pool = nullptr;
      const VkResult result = api_.CreateDescriptorPool(device_, &info, nullptr, &pool);
      if (result != VK_SUCCESS) {
        Fail(ErrorOf("a descriptor pool", result));
        return nullptr;
      }
      pools_.push_back(pool);
      sets_left_ = kSetsOfAPool;
    }
    if (sets_left_ > 0) break;
    sets_left_ = kSetsOfAPool;
  }
  const VkDescriptorSetAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = pools_[pool_],
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &layout};
  VkDescriptorSet set = nullptr;
  const VkResult result = api_.AllocateDescriptorSets(device_, &info, &set);
  if (result != VK_SUCCESS) Fail(ErrorOf("a descriptor set", result));
  --sets_left_;
  return set;
}

void Stream::DispatchBytes(const Shader& shader, DType dtype, std::span<const Operand> operands,
                           const void* push, uint32_t push_bytes,
                           std::span<const uint32_t> constants, const Groups& groups) {
  GDN_CHECK(operands.size() <= kMaxOperands);
  if (groups.x == 0 || groups.y == 0 || groups.z == 0) return;
  if (!Begin()) return;
  const auto count = static_cast<uint32_t>(operands.size());
  const Result<Pipeline> pipeline = pipelines_.Get(shader, dtype, count, push_bytes, constants);
  if (!pipeline.ok()) return Fail(pipeline.status());
  Order(operands);
  const VkDescriptorSet set = NewSet(pipeline->set_layout);
  if (set == nullptr) return;
  std::array<VkDescriptorBufferInfo, kMaxOperands> buffers{};
  std::array<VkWriteDescriptorSet, kMaxOperands> writes{};
  for (uint32_t i = 0; i < count; ++i) {
    // Something has to be bound: any other operand will do.
    const Operand& operand = operands[i].data != nullptr ? operands[i] : operands[0];
    const BufferRange range = Find(operand.data);
    GDN_CHECK(range.buffer != nullptr);
    const uint64_t inside = range.offset % caps_.storage_alignment;
    if (inside + operand.bytes > caps_.max_storage_range) {
      return Fail(Unsupported(StrCat("vulkan: ", shader.name, " takes ", HumanBytes(operand.bytes),
                                     " at once, a shader of this device sees at most ",
                                     HumanBytes(caps_.max_storage_range), " of a buffer")));
    }
    buffers[i] = {range.buffer, range.offset - inside,
                  AlignUp(inside + std::max<size_t>(operand.bytes, 1), 4)};
    writes[i] = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                 .dstSet = set,
                 .dstBinding = i,
                 .descriptorCount = 1,
                 .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                 .pBufferInfo = &buffers[i]};
  }
  api_.UpdateDescriptorSets(device_, count, writes.data(), 0, nullptr);
  api_.CmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
  api_.CmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout, 0, 1,
                             &set, 0, nullptr);
  if (push_bytes > 0) {
    api_.CmdPushConstants(commands_, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes,
                          push);
  }
  api_.CmdDispatch(commands_, groups.x, groups.y, groups.z);
  ++counts_.dispatches;
}

void Stream::Copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0 || !Begin()) return;
  Order(std::array<Operand, 2>{Operand{from, bytes, false}, Operand{to, bytes, true}});
  const BufferRange source = Find(from);
  const BufferRange target = Find(to);
  GDN_CHECK(source.buffer != nullptr && target.buffer != nullptr);
  const VkBufferCopy region = {source.offset, target.offset, bytes};
  api_.CmdCopyBuffer(commands_, source.buffer, target.buffer, 1, &region);
}

void Stream::FillZero(void* data, size_t bytes) {
  if (bytes == 0 || !Begin()) return;
  const BufferRange range = Find(data);
  GDN_CHECK(range.buffer != nullptr && range.offset % 4 == 0);
  Order(std::array<Operand, 1>{Operand{data, AlignUp(bytes, 4), true}});
  api_.CmdFillBuffer(commands_, range.buffer, range.offset, AlignUp(bytes, 4), 0);
}

Status Stream::Submit() {
  // What the device has written is seen by the host once the semaphore is.
  const VkMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
      .dstAccessMask = VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT};
  api_.CmdPipelineBarrier(commands_,
                          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
                          VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
  VkResult result = api_.EndCommandBuffer(commands_);
  if (result != VK_SUCCESS) return ErrorOf("a command buffer", result);
  const uint64_t value = ++num_submits_;
  const VkTimelineSemaphoreSubmitInfo timeline = {
      .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
      .signalSemaphoreValueCount = 1,
      .pSignalSemaphoreValues = &value};
  const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &timeline,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands_,
                               .signalSemaphoreCount = 1,
                               .pSignalSemaphores = &done_};
  result = api_.QueueSubmit(queue_, 1, &submit, nullptr);
  if (result != VK_SUCCESS) return ErrorOf("the device refused its work", result);
  ++counts_.submits;
  const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                    .semaphoreCount = 1,
                                    .pSemaphores = &done_,
                                    .pValues = &value};
  result = api_.WaitSemaphores(device_, &wait, kPatienceNs);
  if (result == VK_TIMEOUT) return Unavailable("vulkan: the device has not answered for 300 s");
  if (result != VK_SUCCESS) return ErrorOf("the device failed at its work", result);
  return OkStatus();
}

Status Stream::Finish() {
  if (recording_ && status_.ok()) Fail(Submit());
  recording_ = false;
  accesses_.clear();
  // Without the device's answer nothing of its memory may be given back.
  if (!status_.ok()) return status_;
  api_.ResetCommandPool(device_, command_pool_, 0);
  for (const VkDescriptorPool pool : pools_) api_.ResetDescriptorPool(device_, pool, 0);
  pool_ = 0;
  sets_left_ = pools_.empty() ? 0 : kSetsOfAPool;
  // The largest page stays for the next run.
  if (pages_.size() > 1) pages_.erase(pages_.begin(), pages_.end() - 1);
  if (!pages_.empty()) pages_.back().used = 0;
  return OkStatus();
}

}  // namespace gdn::vulkan
