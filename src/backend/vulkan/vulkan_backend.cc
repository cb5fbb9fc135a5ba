// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/vulkan_backend.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "base/copy_bytes.h"
#include "base/str.h"

namespace gdn::vulkan {
namespace {

// What crosses at once where memory cannot be mapped.
constexpr size_t kCrossingBytes = size_t{16} << 20;

// Drivers of other versions refuse each other's files.
std::string CachePath(const std::string& folder, const Caps& caps) {
  if (folder.empty()) return {};
  std::string name = StrCat(caps.name, " ", caps.driver);
  std::ranges::replace_if(
      name,
      [](char c) {
        return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'));
      },
      '_');
  return StrCat(folder, "/vulkan-", name, ".bin");
}

}  // namespace

VulkanBackend::VulkanBackend(const Instance& instance, int index)
    : instance_(instance),
      index_(index),
      physical_(instance.devices()[static_cast<size_t>(index)]) {}

Result<std::unique_ptr<VulkanBackend>> VulkanBackend::Open(int index, Crossing crossing,
                                                           const std::string& cache_folder) {
  GDN_ASSIGN_OR_RETURN(const Instance* instance, Instance::Get());
  const auto count = static_cast<int>(instance->devices().size());
  if (index < 0 || index >= count) {
    return InvalidArgument(StrCat("vulkan: device ", index, " is not there, there are ", count));
  }
  std::unique_ptr<VulkanBackend> backend(new VulkanBackend(*instance, index));
  const Caps& caps = backend->physical_.caps;
  if (const std::string why = caps.WhyNot(); !why.empty()) {
    return Unsupported(StrCat("vulkan: ", caps.name, " cannot be used: ", why));
  }
  GDN_RETURN_IF_ERROR(backend->Create(crossing, cache_folder));
  return backend;
}

Status VulkanBackend::Create(Crossing crossing, const std::string& cache_folder) {
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                              .queueFamilyIndex = physical_.caps.queue_family,
                                              .queueCount = 1,
                                              .pQueuePriorities = &priority};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
      .timelineSemaphore = VK_TRUE};
  VkPhysicalDevice16BitStorageFeatures storage = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES,
      .pNext = &timeline,
      .storageBuffer16BitAccess = VK_TRUE};
  const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                   .pNext = &storage,
                                   .queueCreateInfoCount = 1,
                                   .pQueueCreateInfos = &queue_info};
  const VkResult result = instance_.api().CreateDevice(physical_.handle, &info, nullptr, &device_);
  if (result != VK_SUCCESS) {
    return ErrorOf(StrCat(physical_.caps.name, " cannot be opened").c_str(), result);
  }
  GDN_RETURN_IF_ERROR(api_.Load(instance_.api(), device_));
  VkQueue queue = nullptr;
  api_.GetDeviceQueue(device_, physical_.caps.queue_family, 0, &queue);
  const bool map = crossing == Crossing::kMapped ||
                   (crossing == Crossing::kBest && physical_.caps.unified_memory);
  const bool local = crossing != Crossing::kMapped || physical_.caps.unified_memory;
  heap_ = std::make_unique<Heap>(instance_.api(), physical_.handle, api_, device_, physical_.caps,
                                 local ? Heap::Kind::kDevice : Heap::Kind::kStaging, map);
  staging_ = std::make_unique<Heap>(instance_.api(), physical_.handle, api_, device_,
                                    physical_.caps, Heap::Kind::kStaging, /*map=*/true);
  pipelines_ = std::make_unique<Pipelines>(api_, device_, CachePath(cache_folder, physical_.caps));
  stream_ = std::make_unique<Stream>(api_, device_, queue, physical_.caps, *heap_, *staging_,
                                     *pipelines_);
  return stream_->Create();
}

VulkanBackend::~VulkanBackend() {
  if (device_ == nullptr) return;
  stream_.reset();
  pipelines_.reset();
  read_back_ = Storage();
  staging_.reset();
  heap_.reset();
  if (api_.DestroyDevice != nullptr) api_.DestroyDevice(device_, nullptr);
}

Result<Storage> VulkanBackend::Allocate(size_t bytes, const char* purpose) {
  if (bytes == 0) return Storage();
  GDN_ASSIGN_OR_RETURN(std::byte* const data, heap_->Take(bytes, purpose));
  if (heap_->is_mapped()) {
    std::memset(data, 0, bytes);
  } else {
    stream_->FillZero(data, bytes);
  }
  return Storage(*this, data, bytes);
}

// What is recorded may still use the block. Its error is what the next Finish returns.
void VulkanBackend::Free(std::byte* data, size_t bytes) {
  (void)stream_->Finish();
  heap_->Free(data, bytes);
}

Status VulkanBackend::Write(void* to_device, const void* from_host, size_t bytes) {
  if (heap_->is_mapped()) {
    GDN_RETURN_IF_ERROR(stream_->Finish());
    CopyBytes(to_device, from_host, bytes);
    return OkStatus();
  }
  for (size_t at = 0; at < bytes; at += kCrossingBytes) {
    const size_t count = std::min(kCrossingBytes, bytes - at);
    const void* staged = stream_->Upload(static_cast<const std::byte*>(from_host) + at, count);
    if (staged == nullptr) return stream_->status();
    stream_->Copy(static_cast<std::byte*>(to_device) + at, staged, count);
    GDN_RETURN_IF_ERROR(stream_->Finish());
  }
  return OkStatus();
}

Status VulkanBackend::Read(void* to_host, const void* from_device, size_t bytes) {
  stream_->CountRead(bytes);
  if (heap_->is_mapped()) {
    GDN_RETURN_IF_ERROR(stream_->Finish());
    CopyBytes(to_host, from_device, bytes);
    return OkStatus();
  }
  const size_t most = std::min(bytes, kCrossingBytes);
  if (read_back_.size_bytes() < most) {
    GDN_ASSIGN_OR_RETURN(read_back_, staging_->Allocate(most, "what is read back"));
  }
  for (size_t at = 0; at < bytes; at += most) {
    const size_t count = std::min(most, bytes - at);
    stream_->Copy(read_back_.data(), static_cast<const std::byte*>(from_device) + at, count);
    GDN_RETURN_IF_ERROR(stream_->Finish());
    std::memcpy(static_cast<std::byte*>(to_host) + at, read_back_.data(), count);
  }
  return OkStatus();
}

Stream& StreamOf(const ExecContext& ctx) {
  GDN_CHECK(ctx.backend != nullptr && ctx.device.type == DeviceType::kVulkan);
  return static_cast<VulkanBackend*>(ctx.backend)->stream();
}

}  // namespace gdn::vulkan
