// SPDX-License-Identifier: Apache-2.0
// A Vulkan layer, for tests alone, that passes everything on but the faults named by the
// environment variable GDN_FAULT: words between commas; "word:N" begins at the Nth call, counted
// from 1.
//   no-driver     vkCreateInstance fails
//   no-device     no physical device is there
//   discrete      devices say that they are GPUs with memory of their own
//   old-version   they have Vulkan 1.1
//   small-shared  their workgroups share 8 KiB
//   no-16bit      they lack storageBuffer16BitAccess
//   open          vkCreateDevice fails
//   allocate      vkAllocateMemory fails
//   pipeline      vkCreateComputePipelines fails
//   lost          vkQueueSubmit finds the device lost
//   lost-wait     vkWaitSemaphores does
// It serves one instance with one device at a time.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

constexpr uint32_t kInterfaceVersion = 2;

struct Next {
  PFN_vkGetInstanceProcAddr get_instance_proc = nullptr;
  PFN_vkGetDeviceProcAddr get_device_proc = nullptr;
  VkInstance instance = nullptr;
  VkDevice device = nullptr;
};
Next g_next;

template <class Function>
Function NextOfInstance(const char* name) {
  return reinterpret_cast<Function>(g_next.get_instance_proc(g_next.instance, name));
}
template <class Function>
Function NextOfDevice(const char* name) {
  return reinterpret_cast<Function>(g_next.get_device_proc(g_next.device, name));
}

// The call from which on a fault is there; 0: never.
int64_t FirstCall(std::string_view fault) {
  const char* variable = std::getenv("GDN_FAULT");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const size_t colon = std::min(word.find(':'), word.size());
    if (word.substr(0, colon) != fault) continue;
    return colon == word.size() ? 1 : std::stoll(std::string(word.substr(colon + 1)));
  }
  return 0;
}

bool Has(std::string_view fault) { return FirstCall(fault) > 0; }

bool IsDue(std::string_view fault, std::atomic<int64_t>& calls) {
  const int64_t first = FirstCall(fault);
  return first > 0 && ++calls >= first;
}

// The link of the chain that the loader has left for this layer.
template <class Info>
Info* FindLink(const void* chain, VkStructureType type) {
  auto* at = static_cast<VkBaseOutStructure*>(const_cast<void*>(chain));
  for (; at != nullptr; at = at->pNext) {
    auto* info = reinterpret_cast<Info*>(at);
    if (at->sType == type && info->function == VK_LAYER_LINK_INFO) return info;
  }
  return nullptr;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo* info,
                                              const VkAllocationCallbacks* allocator,
                                              VkInstance* instance) {
  auto* link = FindLink<VkLayerInstanceCreateInfo>(info->pNext,
                                                   VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
  if (Has("no-driver")) return VK_ERROR_INCOMPATIBLE_DRIVER;
  g_next.get_instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  g_next.instance = nullptr;
  const VkResult result =
      NextOfInstance<PFN_vkCreateInstance>("vkCreateInstance")(info, allocator, instance);
  if (result == VK_SUCCESS) g_next.instance = *instance;
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical,
                                            const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* allocator,
                                            VkDevice* device) {
  auto* link =
      FindLink<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  if (link == nullptr || Has("open")) return VK_ERROR_INITIALIZATION_FAILED;
  const PFN_vkGetInstanceProcAddr get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  g_next.get_device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const auto create = reinterpret_cast<PFN_vkCreateDevice>(get(g_next.instance, "vkCreateDevice"));
  const VkResult result = create(physical, info, allocator, device);
  if (result == VK_SUCCESS) g_next.device = *device;
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL EnumeratePhysicalDevices(VkInstance instance, uint32_t* count,
                                                        VkPhysicalDevice* devices) {
  if (Has("no-device")) {
    *count = 0;
    return VK_SUCCESS;
  }
  return NextOfInstance<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices")(
      instance, count, devices);
}

void Change(VkPhysicalDeviceProperties& properties) {
  if (Has("discrete")) properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  if (Has("old-version")) properties.apiVersion = VK_API_VERSION_1_1;
  if (Has("small-shared")) properties.limits.maxComputeSharedMemorySize = 8 << 10;
}

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceProperties(VkPhysicalDevice physical,
                                                       VkPhysicalDeviceProperties* properties) {
  NextOfInstance<PFN_vkGetPhysicalDeviceProperties>("vkGetPhysicalDeviceProperties")(physical,
                                                                                     properties);
  Change(*properties);
}

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceProperties2(VkPhysicalDevice physical,
                                                        VkPhysicalDeviceProperties2* properties) {
  NextOfInstance<PFN_vkGetPhysicalDeviceProperties2>("vkGetPhysicalDeviceProperties2")(physical,
                                                                                       properties);
  Change(properties->properties);
}

VKAPI_ATTR void VKAPI_CALL GetPhysicalDeviceFeatures2(VkPhysicalDevice physical,
                                                      VkPhysicalDeviceFeatures2* features) {
  NextOfInstance<PFN_vkGetPhysicalDeviceFeatures2>("vkGetPhysicalDeviceFeatures2")(physical,
                                                                                   features);
  if (!Has("no-16bit")) return;
  auto* at = static_cast<VkBaseOutStructure*>(features->pNext);
  for (; at != nullptr; at = at->pNext) {
    if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES) {
      auto* storage = reinterpret_cast<VkPhysicalDevice16BitStorageFeatures*>(at);
      storage->storageBuffer16BitAccess = VK_FALSE;
    } else if (at->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES) {
      auto* all = reinterpret_cast<VkPhysicalDeviceVulkan11Features*>(at);
      all->storageBuffer16BitAccess = VK_FALSE;
    }
  }
}

VKAPI_ATTR VkResult VKAPI_CALL AllocateMemory(VkDevice device, const VkMemoryAllocateInfo* info,
                                              const VkAllocationCallbacks* allocator,
                                              VkDeviceMemory* memory) {
  static std::atomic<int64_t> calls{0};
  if (IsDue("allocate", calls)) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return NextOfDevice<PFN_vkAllocateMemory>("vkAllocateMemory")(device, info, allocator, memory);
}

VKAPI_ATTR VkResult VKAPI_CALL CreateComputePipelines(VkDevice device, VkPipelineCache cache,
                                                      uint32_t count,
                                                      const VkComputePipelineCreateInfo* infos,
                                                      const VkAllocationCallbacks* allocator,
                                                      VkPipeline* pipelines) {
  static std::atomic<int64_t> calls{0};
  if (IsDue("pipeline", calls)) {
    std::fill_n(pipelines, count, VkPipeline{});
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  return NextOfDevice<PFN_vkCreateComputePipelines>("vkCreateComputePipelines")(
      device, cache, count, infos, allocator, pipelines);
}

VKAPI_ATTR VkResult VKAPI_CALL QueueSubmit(VkQueue queue, uint32_t count,
                                           const VkSubmitInfo* submits, VkFence fence) {
  static std::atomic<int64_t> calls{0};
  if (IsDue("lost", calls)) return VK_ERROR_DEVICE_LOST;
  return NextOfDevice<PFN_vkQueueSubmit>("vkQueueSubmit")(queue, count, submits, fence);
}

// The work itself is waited for: the driver is well, and must not find its memory gone.
VKAPI_ATTR VkResult VKAPI_CALL WaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo* info,
                                              uint64_t timeout) {
  static std::atomic<int64_t> calls{0};
  const VkResult result =
      NextOfDevice<PFN_vkWaitSemaphores>("vkWaitSemaphores")(device, info, timeout);
  return IsDue("lost-wait", calls) ? VK_ERROR_DEVICE_LOST : result;
}

PFN_vkVoidFunction FindOwn(std::string_view name, bool of_device);

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance instance,
                                                             const char* name) {
  for (const bool of_device : {false, true}) {
    if (const PFN_vkVoidFunction own = FindOwn(name, of_device); own != nullptr) return own;
  }
  return instance == nullptr ? nullptr : g_next.get_instance_proc(instance, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device, const char* name) {
  const PFN_vkVoidFunction own = FindOwn(name, /*of_device=*/true);
  return own != nullptr ? own : g_next.get_device_proc(device, name);
}

PFN_vkVoidFunction FindOwn(std::string_view name, bool of_device) {
  struct Own {
    std::string_view name;
    bool of_device;
    PFN_vkVoidFunction function;
  };
#define GDN_OWN(name, of_device) \
  { "vk" #name, of_device, reinterpret_cast<PFN_vkVoidFunction>(name) }
  static const Own all[] = {GDN_OWN(GetInstanceProcAddr, false),
                            GDN_OWN(CreateInstance, false),
                            GDN_OWN(CreateDevice, false),
                            GDN_OWN(EnumeratePhysicalDevices, false),
                            GDN_OWN(GetPhysicalDeviceProperties, false),
                            GDN_OWN(GetPhysicalDeviceProperties2, false),
                            GDN_OWN(GetPhysicalDeviceFeatures2, false),
                            GDN_OWN(GetDeviceProcAddr, true),
                            GDN_OWN(AllocateMemory, true),
                            GDN_OWN(CreateComputePipelines, true),
                            GDN_OWN(QueueSubmit, true),
                            GDN_OWN(WaitSemaphores, true)};
#undef GDN_OWN
  const Own* found = std::find_if(std::begin(all), std::end(all), [&](const Own& own) {
    return own.name == name && own.of_device == of_device;
  });
  return found == std::end(all) ? nullptr : found->function;
}

}  // namespace

// The manifest names it.
extern "C" VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL
GdnFaultLayerNegotiate(VkNegotiateLayerInterface* version) {
  if (version->loaderLayerInterfaceVersion < kInterfaceVersion) {
    return VK_ERROR_INITIALIZATION_FAILED;
  }
  version->loaderLayerInterfaceVersion = kInterfaceVersion;
  version->pfnGetInstanceProcAddr = GetInstanceProcAddr;
  version->pfnGetDeviceProcAddr = GetDeviceProcAddr;
  version->pfnGetPhysicalDeviceProcAddr = nullptr;
  return VK_SUCCESS;
}
