// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/api.h"

#include <dlfcn.h>

#include "base/str.h"

namespace gdn::vulkan {
namespace {

constexpr const char* kLoader = "libvulkan.so.1";

Status Missing(const char* function) {
  return Unsupported(StrCat("vulkan: the driver lacks the function vk", function));
}

}  // namespace

Status InstanceApi::Load() {
  // Never closed: drivers keep threads and exit handlers of their own.
  void* library = dlopen(kLoader, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return NotFound(StrCat("vulkan: there is no loader (", kLoader, ")"));
  }
  GetInstanceProcAddr =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (GetInstanceProcAddr == nullptr) return Missing("GetInstanceProcAddr");
#define GDN_VULKAN_LOAD(name)                                                      \
  name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(nullptr, "vk" #name)); \
  if ((name) == nullptr) return Missing(#name);
  GDN_VULKAN_GLOBAL_FUNCTIONS(GDN_VULKAN_LOAD)
#undef GDN_VULKAN_LOAD
  return OkStatus();
}

Status InstanceApi::LoadFor(VkInstance instance) {
#define GDN_VULKAN_LOAD(name)                                                       \
  name = reinterpret_cast<PFN_vk##name>(GetInstanceProcAddr(instance, "vk" #name)); \
  if ((name) == nullptr) return Missing(#name);
  GDN_VULKAN_INSTANCE_FUNCTIONS(GDN_VULKAN_LOAD)
#undef GDN_VULKAN_LOAD
  CreateDebugUtilsMessengerEXT = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
      GetInstanceProcAddr(instance, "vkCreateDebugUtilsMessengerEXT"));
  DestroyDebugUtilsMessengerEXT = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
      GetInstanceProcAddr(instance, "vkDestroyDebugUtilsMessengerEXT"));
  return OkStatus();
}

Status DeviceApi::Load(const InstanceApi& api, VkDevice device) {
#define GDN_VULKAN_LOAD(name)                                                       \
  name = reinterpret_cast<PFN_vk##name>(api.GetDeviceProcAddr(device, "vk" #name)); \
  if ((name) == nullptr) return Missing(#name);
  GDN_VULKAN_DEVICE_FUNCTIONS(GDN_VULKAN_LOAD)
#undef GDN_VULKAN_LOAD
  return OkStatus();
}

const char* Name(VkResult result) {
  switch (result) {
    case VK_SUCCESS:
      return "VK_SUCCESS";
    case VK_TIMEOUT:
      return "VK_TIMEOUT";
    case VK_INCOMPLETE:
      return "VK_INCOMPLETE";
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
      return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_MEMORY_MAP_FAILED:
      return "VK_ERROR_MEMORY_MAP_FAILED";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "VK_ERROR_LAYER_NOT_PRESENT";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "VK_ERROR_TOO_MANY_OBJECTS";
    case VK_ERROR_OUT_OF_POOL_MEMORY:
      return "VK_ERROR_OUT_OF_POOL_MEMORY";
    case VK_ERROR_INVALID_SHADER_NV:
      return "VK_ERROR_INVALID_SHADER_NV";
    case VK_ERROR_UNKNOWN:
      return "VK_ERROR_UNKNOWN";
    default:
      return "an unknown VkResult";
  }
}

Status ErrorOf(const char* what, VkResult result) {
  std::string message = StrCat("vulkan: ", what, ": ", Name(result), " (", int{result}, ")");
  const bool memory = result == VK_ERROR_OUT_OF_HOST_MEMORY ||
                      result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
                      result == VK_ERROR_OUT_OF_POOL_MEMORY;
  return memory ? OutOfMemory(std::move(message)) : Unavailable(std::move(message));
}

}  // namespace gdn::vulkan
