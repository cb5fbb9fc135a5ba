// SPDX-License-Identifier: Apache-2.0
// Operators on a device, for tests. A test includes vulkan_testing.h or gpu_testing.h first, which
// say what the device is.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <utility>

#include "backend/backend.h"
#include "backend/exec_context.h"
#include "ops/common/testing/test_rows.h"
#include "tensor/storage.h"

namespace gdn {

// One device for all tests of a program.
class TestDevice {
 public:
  static Backend& Get();
  // Whether an operator in the reference's order has its bits: division and root are rounded as the
  // host's.
  static bool HasReferenceBits();
  static ExecContext Context() {
    ExecContext ctx;
    ctx.device = Get().device();
    ctx.backend = &Get();
    return ctx;
  }
};

// Bytes of the host on the device, as long as it lives; Fetch brings them back.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::span<std::byte> host) : host_(host) {
    Result<Storage> storage =
        TestDevice::Get().memory().Allocate(std::max<size_t>(host.size(), 1), "a test");
    GDN_CHECK(storage.ok());
    storage_ = std::move(storage).value();
    const Status written = TestDevice::Get().Write(storage_.data(), host.data(), host.size());
    EXPECT_TRUE(written.ok()) << written.message();
  }
  // A view of the host's bytes, of the same bytes on the device.
  Tensor operator()(Tensor view) const {
    view.data = storage_.data() + (static_cast<std::byte*>(view.data) - host_.data());
    return view;
  }
  void Fetch() {
    const Status read = TestDevice::Get().Read(host_.data(), storage_.data(), host_.size());
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

}  // namespace gdn
