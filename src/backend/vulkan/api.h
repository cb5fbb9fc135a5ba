// SPDX-License-Identifier: Apache-2.0
// The functions of the Vulkan loader, found at run time: a machine without one can run the program.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "base/status.h"

namespace gdn::vulkan {

// Of the loader, of an instance, of a device.
#define GDN_VULKAN_GLOBAL_FUNCTIONS(X)    \
  X(EnumerateInstanceVersion)             \
  X(EnumerateInstanceExtensionProperties) \
  X(CreateInstance)

#define GDN_VULKAN_INSTANCE_FUNCTIONS(X)    \
  X(DestroyInstance)                        \
  X(EnumeratePhysicalDevices)               \
  X(GetPhysicalDeviceProperties2)           \
  X(GetPhysicalDeviceFeatures2)             \
  X(GetPhysicalDeviceMemoryProperties2)     \
  X(GetPhysicalDeviceQueueFamilyProperties) \
  X(CreateDevice)                           \
  X(GetDeviceProcAddr)

#define GDN_VULKAN_DEVICE_FUNCTIONS(X) \
  X(DestroyDevice)                     \
  X(GetDeviceQueue)                    \
  X(AllocateMemory)                    \
  X(FreeMemory)                        \
  X(MapMemory)                         \
  X(CreateBuffer)                      \
  X(DestroyBuffer)                     \
  X(GetBufferMemoryRequirements)       \
  X(BindBufferMemory)                  \
  X(CreateShaderModule)                \
  X(DestroyShaderModule)               \
  X(CreateDescriptorSetLayout)         \
  X(DestroyDescriptorSetLayout)        \
  X(CreatePipelineLayout)              \
  X(DestroyPipelineLayout)             \
  X(CreatePipelineCache)               \
  X(DestroyPipelineCache)              \
  X(GetPipelineCacheData)              \
  X(CreateComputePipelines)            \
  X(DestroyPipeline)                   \
  X(CreateDescriptorPool)              \
  X(DestroyDescriptorPool)             \
  X(ResetDescriptorPool)               \
  X(AllocateDescriptorSets)            \
  X(UpdateDescriptorSets)              \
  X(CreateCommandPool)                 \
  X(DestroyCommandPool)                \
  X(ResetCommandPool)                  \
  X(AllocateCommandBuffers)            \
  X(BeginCommandBuffer)                \
  X(EndCommandBuffer)                  \
  X(CmdBindPipeline)                   \
  X(CmdBindDescriptorSets)             \
  X(CmdPushConstants)                  \
  X(CmdDispatch)                       \
  X(CmdCopyBuffer)                     \
  X(CmdFillBuffer)                     \
  X(CmdPipelineBarrier)                \
  X(CreateSemaphore)                   \
  X(DestroySemaphore)                  \
  X(WaitSemaphores)                    \
  X(QueueSubmit)

// What an instance has.
struct InstanceApi {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
#define GDN_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;
  GDN_VULKAN_GLOBAL_FUNCTIONS(GDN_VULKAN_MEMBER)
  GDN_VULKAN_INSTANCE_FUNCTIONS(GDN_VULKAN_MEMBER)
  // Of VK_EXT_debug_utils; null without it.
  PFN_vkCreateDebugUtilsMessengerEXT CreateDebugUtilsMessengerEXT = nullptr;
  PFN_vkDestroyDebugUtilsMessengerEXT DestroyDebugUtilsMessengerEXT = nullptr;

  // Errors: kNotFound where there is no loader.
  Status Load();
  // Those of an instance that was made with the functions of Load.
  Status LoadFor(VkInstance instance);
};

struct DeviceApi {
  GDN_VULKAN_DEVICE_FUNCTIONS(GDN_VULKAN_MEMBER)
#undef GDN_VULKAN_MEMBER

  Status Load(const InstanceApi& api, VkDevice device);
};

// "VK_ERROR_DEVICE_LOST"
const char* Name(VkResult result);

// kOutOfMemory or kUnavailable: "vulkan: WHAT: VK_ERROR_...".
Status ErrorOf(const char* what, VkResult result);

}  // namespace gdn::vulkan
