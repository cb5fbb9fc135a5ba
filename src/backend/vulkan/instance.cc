// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/instance.h"

#include <algorithm>
#include <cstring>

#include "backend/vulkan/caps.h"
#include "base/log.h"
#include "base/str.h"

namespace gdn::vulkan {
namespace {

// Discrete first, the CPU last.
int Rank(const Caps& caps) { return caps.is_cpu ? 2 : caps.unified_memory ? 1 : 0; }

bool HasDebugUtils(const InstanceApi& api) {
  uint32_t count = 0;
  if (api.EnumerateInstanceExtensionProperties(nullptr, &count, nullptr) != VK_SUCCESS)
    return false;
  std::vector<VkExtensionProperties> all(count);
  if (api.EnumerateInstanceExtensionProperties(nullptr, &count, all.data()) != VK_SUCCESS) {
    return false;
  }
  return std::ranges::any_of(all, [](const VkExtensionProperties& extension) {
    return std::strcmp(extension.extensionName, VK_EXT_DEBUG_UTILS_EXTENSION_NAME) == 0;
  });
}

}  // namespace

VkBool32 Instance::OnMessage(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                             VkDebugUtilsMessageTypeFlagsEXT type,
                             const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  if ((type & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT) == 0) return VK_FALSE;
  auto* self = static_cast<Instance*>(user);
  ++self->num_validation_messages_;
  const bool error = (severity & VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) != 0;
  Log(error ? LogLevel::kError : LogLevel::kWarning, StrCat("vulkan: ", data->pMessage));
  return VK_FALSE;
}

Result<Instance*> Instance::Get() {
  // Never destroyed: devices may outlive any order of static destructors.
  static auto* instance = new Instance();
  static const Status status = instance->Create();
  GDN_RETURN_IF_ERROR(status);
  return instance;
}

Status Instance::Create() {
  GDN_RETURN_IF_ERROR(api_.Load());
  uint32_t version = 0;
  api_.EnumerateInstanceVersion(&version);
  if (version < VK_API_VERSION_1_2) {
    return Unsupported(
        StrCat("vulkan: the loader has version ", DescribeVersion(version), ", want 1.2"));
  }
  const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                         .pApplicationName = "gdn",
                                         .apiVersion = VK_API_VERSION_1_2};
  const bool debug = HasDebugUtils(api_);
  const char* extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                     .pApplicationInfo = &application,
                                     .enabledExtensionCount = debug ? 1U : 0U,
                                     .ppEnabledExtensionNames = &extension};
  const VkResult result = api_.CreateInstance(&info, nullptr, &instance_);
  if (result != VK_SUCCESS) {
    return Unsupported(StrCat("vulkan: no driver can be used: ", vulkan::Name(result)));
  }
  GDN_RETURN_IF_ERROR(api_.LoadFor(instance_));
  if (debug && api_.CreateDebugUtilsMessengerEXT != nullptr) {
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = OnMessage,
        .pUserData = this};
    is_validated_ = api_.CreateDebugUtilsMessengerEXT(instance_, &messenger, nullptr,
                                                      &messenger_) == VK_SUCCESS;
  }
  return FindDevices();
}

Status Instance::FindDevices() {
  uint32_t count = 0;
  VkResult result = api_.EnumeratePhysicalDevices(instance_, &count, nullptr);
  std::vector<VkPhysicalDevice> handles(count);
  if (result == VK_SUCCESS) {
    result = api_.EnumeratePhysicalDevices(instance_, &count, handles.data());
  }
  if (result != VK_SUCCESS || count == 0) {
    return Unsupported(
        StrCat("vulkan: no device: ", result == VK_SUCCESS ? "no driver names one" : Name(result)));
  }
  for (const VkPhysicalDevice handle : handles) {
    devices_.push_back({handle, ReadCaps(api_, handle)});
  }
  std::ranges::stable_sort(
      devices_, [](const Physical& a, const Physical& b) { return Rank(a.caps) < Rank(b.caps); });
  return OkStatus();
}

}  // namespace gdn::vulkan
