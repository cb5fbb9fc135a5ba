// SPDX-License-Identifier: Apache-2.0
// The Vulkan devices of this machine, and which of them can run a model.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/vulkan/api.h"
#include "base/status.h"

namespace gdn::vulkan {

// What of a device matters here. Nothing else is assumed of it: least of all a subgroup size.
struct Caps {
  std::string name;
  std::string driver;
  uint32_t api_version = 0;
  bool is_cpu = false;
  bool unified_memory = false;  // device memory is the host's
  uint64_t memory_bytes = 0;    // largest device-local heap
  bool storage_16bit = false;
  uint32_t queue_family = 0;
  bool has_compute = false;
  uint64_t max_storage_range = 0;  // bytes that a shader sees of one binding
  uint32_t max_shared_bytes = 0;
  uint32_t max_invocations = 0;
  uint32_t max_push_bytes = 0;
  uint32_t max_groups_x = 0;
  uint32_t storage_alignment = 0;
  uint32_t subgroup_size = 0;  // of this driver, for the list of devices alone

  // The first thing that is required and missing; "" where there is none.
  std::string WhyNot() const;
};

// Invocations of a workgroup and bytes of shared memory that every device must have.
inline constexpr uint32_t kGroupSize = 256;
inline constexpr uint32_t kSharedBytes = 32 << 10;

class Instance {
 public:
  // The one of this process, made by the first call. Errors: kNotFound where there is no loader,
  // kUnsupported where there is no driver, no device, or a loader before Vulkan 1.2.
  static Result<Instance*> Get();

  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  struct Physical {
    VkPhysicalDevice handle;
    Caps caps;
  };
  // In the order in which they are to be preferred: discrete, integrated, other, CPU.
  const std::vector<Physical>& devices() const { return devices_; }
  const InstanceApi& api() const { return api_; }
  // Warnings and errors of the validation layer, where one is loaded.
  int64_t num_validation_messages() const { return num_validation_messages_; }
  // Whether a validation layer reports here at all.
  bool is_validated() const { return is_validated_; }

 private:
  Instance() = default;
  Status Create();
  Status FindDevices();

  static VKAPI_ATTR VkBool32 VKAPI_CALL OnMessage(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                  VkDebugUtilsMessageTypeFlagsEXT type,
                                                  const VkDebugUtilsMessengerCallbackDataEXT* data,
                                                  void* user);

  InstanceApi api_;
  VkInstance instance_ = nullptr;
  VkDebugUtilsMessengerEXT messenger_ = nullptr;
  std::vector<Physical> devices_;
  std::atomic<int64_t> num_validation_messages_{0};
  bool is_validated_ = false;
};

}  // namespace gdn::vulkan
