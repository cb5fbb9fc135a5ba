// SPDX-License-Identifier: Apache-2.0
#include "backend/open_vulkan.h"

#include "backend/vulkan/caps.h"
#include "backend/vulkan/instance.h"
#include "backend/vulkan/vulkan_backend.h"
#include "base/str.h"

namespace gdn {
namespace {

std::vector<std::string> FeaturesOf(const vulkan::Caps& caps) {
  std::vector<std::string> out = {StrCat("Vulkan ", vulkan::DescribeVersion(caps.api_version)),
                                  StrCat(caps.storage_16bit ? "" : "no ", "16-bit storage"),
                                  StrCat("subgroups of ", caps.subgroup_size),
                                  StrCat("shared memory ", HumanBytes(caps.max_shared_bytes)),
                                  StrCat("buffers up to ", HumanBytes(caps.max_storage_range))};
  if (caps.unified_memory) out.emplace_back("unified memory");
  return out;
}

}  // namespace

std::vector<DeviceInfo> ListVulkanDevices() {
  std::vector<DeviceInfo> out;
  const Result<vulkan::Instance*> instance = vulkan::Instance::Get();
  if (!instance.ok()) return out;
  for (const vulkan::Instance::Physical& physical : (*instance)->devices()) {
    const int index = static_cast<int>(out.size());
    out.push_back({.device = {DeviceType::kVulkan, index},
                   .name = StrCat(Name(DeviceType::kVulkan), ":", index),
                   .description = StrCat(physical.caps.name, ", ", physical.caps.driver),
                   .memory_bytes = physical.caps.memory_bytes,
                   .features = FeaturesOf(physical.caps),
                   .unified_memory = physical.caps.unified_memory,
                   .is_gpu = !physical.caps.is_cpu,
                   .why_not = physical.caps.WhyNot()});
  }
  return out;
}

Status VulkanStatus() { return vulkan::Instance::Get().status(); }

Result<std::unique_ptr<Backend>> OpenVulkan(int index, const BackendOptions& options) {
  using vulkan::VulkanBackend;
  const auto crossing = options.host_can_see_memory ? VulkanBackend::Crossing::kMapped
                                                    : VulkanBackend::Crossing::kBest;
  GDN_ASSIGN_OR_RETURN(std::unique_ptr<VulkanBackend> backend,
                       VulkanBackend::Open(index, crossing, options.cache_folder));
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace gdn
