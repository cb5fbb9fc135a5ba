// SPDX-License-Identifier: Apache-2.0
// Shaders as the build embeds them: SPIR-V of each <op>_vulkan.comp, once a dtype.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/dtype.h"

namespace gdn::vulkan {

struct Shader {
  const char* name;
  // Compiled with DTYPE 0 (f32), 1 (f16), 2 (bf16).
  std::span<const uint32_t> code[3];

  std::span<const uint32_t> CodeFor(DType dtype) const {
    return code[dtype == DType::kF32 ? 0 : dtype == DType::kF16 ? 1 : 2];
  }
};

}  // namespace gdn::vulkan

// Names the shader that gdn_add_shaders() made of <name>.comp.
#define GDN_VULKAN_SHADER(name)            \
  namespace gdn::vulkan::shaders {         \
  extern const ::gdn::vulkan::Shader name; \
  }
