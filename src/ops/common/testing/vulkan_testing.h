// SPDX-License-Identifier: Apache-2.0
// The first Vulkan device that can be used, for tests. CTest chooses the driver and loads the
// validation layer (cmake/gdn_targets.cmake), whose every message is a failure.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "backend/vulkan/vulkan_backend.h"
#include "ops/common/testing/device_testing.h"

namespace gdn {

inline bool TestDevice::HasReferenceBits() { return false; }

inline Backend& TestDevice::Get() {
  static const std::unique_ptr<vulkan::VulkanBackend> backend = [] {
    const Result<vulkan::Instance*> instance = vulkan::Instance::Get();
    GDN_CHECK(instance.ok());
    for (size_t i = 0; i < (*instance)->devices().size(); ++i) {
      if (!(*instance)->devices()[i].caps.WhyNot().empty()) continue;
      auto opened = vulkan::VulkanBackend::Open(static_cast<int>(i),
                                                vulkan::VulkanBackend::Crossing::kBest, "");
      GDN_CHECK(opened.ok());
      return std::move(opened).value();
    }
    GDN_CHECK(false);
  }();
  return *backend;
}

// Fails where the validation layer had something to say, or was not there to.
class ValidationEnvironment : public testing::Environment {
 public:
  void TearDown() override {
    const Result<vulkan::Instance*> instance = vulkan::Instance::Get();
    ASSERT_TRUE(instance.ok()) << instance.status().message();
    EXPECT_EQ((*instance)->num_validation_messages(), 0);
  }
};

inline testing::Environment* const kValidation =
    testing::AddGlobalTestEnvironment(new ValidationEnvironment());

}  // namespace gdn
