// SPDX-License-Identifier: Apache-2.0
// Operators on a Vulkan device, for tests. CTest chooses the driver and loads the validation layer
// (cmake/gdn_targets.cmake), whose every message is a failure.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <utility>

#include "backend/vulkan/vulkan_backend.h"
#include "ops/common/testing/test_rows.h"
#include "tensor/storage.h"

namespace gdn {

// One device for all tests of a program, the first that can be used.
class VulkanTestDevice {
 public:
  static vulkan::VulkanBackend& Get() {
    static VulkanTestDevice device;
    return *device.backend_;
  }
  static ExecContext Context() {
    ExecContext ctx;
    ctx.device = Get().device();
    ctx.backend = &Get();
    return ctx;
  }

 private:
  VulkanTestDevice() {
    const Result<vulkan::Instance*> instance = vulkan::Instance::Get();
    GDN_CHECK(instance.ok());
    for (size_t i = 0; i < (*instance)->devices().size() && backend_ == nullptr; ++i) {
      if (!(*instance)->devices()[i].caps.WhyNot().empty()) continue;
      auto opened = vulkan::VulkanBackend::Open(static_cast<int>(i),
                                                vulkan::VulkanBackend::Crossing::kBest, "");
      GDN_CHECK(opened.ok());
      backend_ = std::move(opened).value();
    }
    GDN_CHECK(backend_ != nullptr);
  }

  std::unique_ptr<vulkan::VulkanBackend> backend_;
};

// Bytes of the host on the device, as long as it lives; Fetch brings them back.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::span<std::byte> host) : host_(host) {
    Result<Storage> storage =
        VulkanTestDevice::Get().memory().Allocate(std::max<size_t>(host.size(), 1), "a test");
    GDN_CHECK(storage.ok());
    storage_ = std::move(storage).value();
    const Status written = VulkanTestDevice::Get().Write(storage_.data(), host.data(), host.size());
    EXPECT_TRUE(written.ok()) << written.message();
  }
  // A view of the host's bytes, of the same bytes on the device.
  Tensor operator()(Tensor view) const {
    view.data = storage_.data() + (static_cast<std::byte*>(view.data) - host_.data());
    return view;
  }
  void Fetch() {
    const Status read = VulkanTestDevice::Get().Read(host_.data(), storage_.data(), host_.size());
    EXPECT_TRUE(read.ok()) << read.message();
  }

 private:
  std::span<std::byte> host_;
  Storage storage_;
};

class DeviceRows {
 public:
  explicit DeviceRows(TestRows& rows) : rows_(rows), bytes_(rows.memory()) {}
  Tensor view() const { return bytes_(rows_.view()); }
  void Fetch() { bytes_.Fetch(); }

 private:
  TestRows& rows_;
  DeviceBytes bytes_;
};

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
