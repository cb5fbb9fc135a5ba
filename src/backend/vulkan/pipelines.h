// SPDX-License-Identifier: Apache-2.0
// Compute pipelines, made on first use and kept, also on disk from one run to the next.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "backend/vulkan/api.h"
#include "backend/vulkan/shader.h"

namespace gdn::vulkan {

struct Pipeline {
  VkPipeline pipeline = nullptr;
  VkPipelineLayout layout = nullptr;
  VkDescriptorSetLayout set_layout = nullptr;
};

class Pipelines {
 public:
  static constexpr size_t kMaxConstants = 8;

  // cache_path: a file that need not be there; "": none is kept. Not thread safe.
  Pipelines(const DeviceApi& api, VkDevice device, std::string cache_path);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // Of a shader with num_buffers storage buffers (bindings 0..), push_bytes of push constants and
  // these specialisation constants (ids 0..). Errors: kUnavailable, naming the shader.
  Result<Pipeline> Get(const Shader& shader, DType dtype, uint32_t num_buffers, uint32_t push_bytes,
                       std::span<const uint32_t> constants);

 private:
  struct Layout {
    VkPipelineLayout layout = nullptr;
    VkDescriptorSetLayout set_layout = nullptr;
  };
  using Key = std::tuple<const Shader*, DType, std::array<uint32_t, kMaxConstants>>;
  using LayoutKey = std::pair<uint32_t, uint32_t>;  // buffers, push bytes

  Result<Layout> LayoutFor(const LayoutKey& key);
  Result<VkPipeline> Compile(const Shader& shader, DType dtype, VkPipelineLayout layout,
                             std::span<const uint32_t> constants) const;
  void LoadCache();
  void SaveCache() const;

  const DeviceApi& api_;
  VkDevice device_;
  std::string cache_path_;
  VkPipelineCache cache_ = nullptr;
  bool compiled_ = false;
  std::map<LayoutKey, Layout> layouts_;
  std::map<Key, Pipeline> pipelines_;
};

}  // namespace gdn::vulkan
