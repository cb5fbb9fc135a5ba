// SPDX-License-Identifier: Apache-2.0
#include "backend/vulkan/pipelines.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/check.h"
#include "base/str.h"

namespace gdn::vulkan {
namespace {

constexpr uintmax_t kMaxCacheBytes = uintmax_t{64} << 20;

std::string ReadAll(const std::string& path) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kMaxCacheBytes) return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Pipelines::Pipelines(const DeviceApi& api, VkDevice device, std::string cache_path)
    : api_(api), device_(device), cache_path_(std::move(cache_path)) {
  LoadCache();
}

Pipelines::~Pipelines() {
  SaveCache();
  for (const auto& [key, pipeline] : pipelines_) {
    api_.DestroyPipeline(device_, pipeline.pipeline, nullptr);
  }
  for (const auto& [key, layout] : layouts_) {
    api_.DestroyPipelineLayout(device_, layout.layout, nullptr);
    api_.DestroyDescriptorSetLayout(device_, layout.set_layout, nullptr);
  }
  api_.DestroyPipelineCache(device_, cache_, nullptr);
}

// Drivers check what they are given, and begin anew where it is not theirs.
void Pipelines::LoadCache() {
  const std::string bytes = cache_path_.empty() ? "" : ReadAll(cache_path_);
  VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                    .initialDataSize = bytes.size(),
                                    .pInitialData = bytes.data()};
  if (api_.CreatePipelineCache(device_, &info, nullptr, &cache_) != VK_SUCCESS) cache_ = nullptr;
}

// A cache is a convenience: what cannot be written is not.
void Pipelines::SaveCache() const {
  if (cache_ == nullptr || cache_path_.empty() || !compiled_) return;
  size_t size = 0;
  if (api_.GetPipelineCacheData(device_, cache_, &size, nullptr) != VK_SUCCESS) return;
  std::string bytes(size, '\0');
  if (api_.GetPipelineCacheData(device_, cache_, &size, bytes.data()) != VK_SUCCESS) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(cache_path_).parent_path(), error);
  if (error) return;
  // Another process may read or write it at this moment.
  const std::string temporary = StrCat(cache_path_, ".", reinterpret_cast<uintptr_t>(this));
  std::ofstream file(temporary, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(size));
  file.close();
  if (file) {
    std::filesystem::rename(temporary, cache_path_, error);
  }
  if (!file || error) std::filesystem::remove(temporary, error);
}

Result<Pipelines::Layout> Pipelines::LayoutFor(const LayoutKey& key) {
  if (const auto found = layouts_.find(key); found != layouts_.end()) return found->second;
  std::vector<VkDescriptorSetLayoutBinding> bindings(key.first);
  for (uint32_t i = 0; i < key.first; ++i) {
    bindings[i] = {.binding = i,
                   .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                   .descriptorCount = 1,
                   .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  }
  const VkDescriptorSetLayoutCreateInfo set = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = key.first,
      .pBindings = bindings.data()};
  Layout layout;
  VkResult result = api_.CreateDescriptorSetLayout(device_, &set, nullptr, &layout.set_layout);
  if (result != VK_SUCCESS) return ErrorOf("a descriptor layout", result);
  const VkPushConstantRange push = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = key.second};
  const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                           .setLayoutCount = 1,
                                           .pSetLayouts = &layout.set_layout,
                                           .pushConstantRangeCount = key.second > 0 ? 1U : 0U,
                                           .pPushConstantRanges = &push};
  result = api_.CreatePipelineLayout(device_, &info, nullptr, &layout.layout);
  layouts_.emplace(key, layout);
  if (result != VK_SUCCESS) return ErrorOf("a pipeline layout", result);
  return layout;
}

Result<VkPipeline> Pipelines::Compile(const Shader& shader, DType dtype, VkPipelineLayout layout,
                                      std::span<const uint32_t> constants) const {
  const std::span<const uint32_t> code = shader.CodeFor(dtype);
  const VkShaderModuleCreateInfo module_info = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
      .codeSize = code.size_bytes(),
      .pCode = code.data()};
  const std::string what = StrCat("the shader ", shader.name, " of ", gdn::Name(dtype));
  VkShaderModule module = nullptr;
  VkResult result = api_.CreateShaderModule(device_, &module_info, nullptr, &module);
  if (result != VK_SUCCESS) return ErrorOf(what.c_str(), result);
  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < constants.size(); ++i) {
    entries.push_back({.constantID = i, .offset = i * 4, .size = 4});
  }
  const VkSpecializationInfo specialization = {
      .mapEntryCount = static_cast<uint32_t>(entries.size()),
      .pMapEntries = entries.data(),
      .dataSize = constants.size_bytes(),
      .pData = constants.data()};
  const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main",
                .pSpecializationInfo = &specialization},
      .layout = layout};
  VkPipeline pipeline = nullptr;
  result = api_.CreateComputePipelines(device_, cache_, 1, &info, nullptr, &pipeline);
  api_.DestroyShaderModule(device_, module, nullptr);
  if (result != VK_SUCCESS) return ErrorOf(what.c_str(), result);
  return pipeline;
}

Result<Pipeline> Pipelines::Get(const Shader& shader, DType dtype, uint32_t num_buffers,
                                uint32_t push_bytes, std::span<const uint32_t> constants) {
  GDN_CHECK(constants.size() <= kMaxConstants);
  Key key{&shader, dtype, {}};
  std::ranges::copy(constants, std::get<2>(key).begin());
  if (const auto found = pipelines_.find(key); found != pipelines_.end()) return found->second;
  GDN_ASSIGN_OR_RETURN(const Layout layout, LayoutFor({num_buffers, push_bytes}));
  GDN_ASSIGN_OR_RETURN(VkPipeline const pipeline, Compile(shader, dtype, layout.layout, constants));
  compiled_ = true;
  const Pipeline out = {pipeline, layout.layout, layout.set_layout};
  pipelines_.emplace(key, out);
  return out;
}

}  // namespace gdn::vulkan
