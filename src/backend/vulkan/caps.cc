// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/caps.h"

#include <algorithm>
#include <vector>

#include "base/str.h"

namespace gdn::vulkan {
namespace {

void ReadProperties(const InstanceApi& api, VkPhysicalDevice device, Caps& caps) {
  VkPhysicalDeviceDriverProperties driver = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceSubgroupProperties subgroup = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &driver};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                            .pNext = &subgroup};
  api.GetPhysicalDeviceProperties2(device, &properties);
  const VkPhysicalDeviceProperties& p = properties.properties;
  const VkPhysicalDeviceLimits& limits = p.limits;
  caps.name = p.deviceName;
  caps.driver = StrCat(driver.driverName, " ", driver.driverInfo);
  caps.api_version = p.apiVersion;
  caps.is_cpu = p.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  caps.unified_memory = caps.is_cpu || p.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
  caps.max_storage_range = limits.maxStorageBufferRange;
  caps.max_shared_bytes = limits.maxComputeSharedMemorySize;
  caps.max_invocations =
      std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
  caps.max_push_bytes = limits.maxPushConstantsSize;
  caps.max_groups_x = limits.maxComputeWorkGroupCount[0];
  caps.storage_alignment = static_cast<uint32_t>(limits.minStorageBufferOffsetAlignment);
  caps.subgroup_size = subgroup.subgroupSize;
}

void ReadFeatures(const InstanceApi& api, VkPhysicalDevice device, Caps& caps) {
  VkPhysicalDevice16BitStorageFeatures storage = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                        .pNext = &storage};
  api.GetPhysicalDeviceFeatures2(device, &features);
  caps.storage_16bit = storage.storageBuffer16BitAccess == VK_TRUE;
}

void ReadMemory(const InstanceApi& api, VkPhysicalDevice device, Caps& caps) {
  VkPhysicalDeviceMemoryProperties2 memory = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2};
  api.GetPhysicalDeviceMemoryProperties2(device, &memory);
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; ++i) {
    const VkMemoryHeap& heap = memory.memoryProperties.memoryHeaps[i];
    if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0) {
      caps.memory_bytes = std::max<uint64_t>(caps.memory_bytes, heap.size);
    }
  }
}

void ReadQueues(const InstanceApi& api, VkPhysicalDevice device, Caps& caps) {
  uint32_t count = 0;
  api.GetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.GetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  for (uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    caps.queue_family = i;
    caps.has_compute = true;
    return;
  }
}

}  // namespace

std::string DescribeVersion(uint32_t version) {
  return StrCat(VK_API_VERSION_MAJOR(version), ".", VK_API_VERSION_MINOR(version), ".",
                VK_API_VERSION_PATCH(version));
}

std::string Caps::WhyNot() const {
  if (api_version < VK_API_VERSION_1_2) {
    return StrCat("it has Vulkan ", DescribeVersion(api_version), ", want 1.2");
  }
  if (!has_compute) return "it has no compute queue";
  if (!storage_16bit) return "it lacks the feature storageBuffer16BitAccess";
  if (max_invocations < kGroupSize) {
    return StrCat("its workgroups have at most ", max_invocations, " invocations, want ",
                  kGroupSize);
  }
  if (max_shared_bytes < kSharedBytes) {
    return StrCat("its workgroups share at most ", max_shared_bytes, " bytes, want ", kSharedBytes);
  }
  return "";
}

Caps ReadCaps(const InstanceApi& api, VkPhysicalDevice device) {
  Caps caps;
  ReadProperties(api, device, caps);
  ReadFeatures(api, device, caps);
  ReadMemory(api, device, caps);
  ReadQueues(api, device, caps);
  return caps;
}

}  // namespace gdn::vulkan
