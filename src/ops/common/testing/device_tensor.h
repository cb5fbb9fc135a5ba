// SPDX-License-Identifier: Apache-2.0
// TestTensors on a device.
#pragma once

#include <span>

#include "ops/common/testing/device_testing.h"
#include "ops/common/testing/test_tensor.h"

namespace gdn {

// A copy of tensor on the device, as long as it lives; Fetch brings its bytes back.
class DeviceTensor {
 public:
  explicit DeviceTensor(TestTensor& tensor)
      : tensor_(tensor),
        bytes_(std::span(static_cast<std::byte*>(tensor.view().data), tensor.bytes().size())) {}
  Tensor view() const { return bytes_(tensor_.view()); }
  void Fetch() { bytes_.Fetch(); }

 private:
  TestTensor& tensor_;
  DeviceBytes bytes_;
};

}  // namespace gdn
