// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .npy file: an error, or a tensor that has all its elements.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const gdn::Result<gdn::OwnedTensor> array = gdn::ParseNpy(bytes, "x.npy");
  if (!array.ok()) {
    GDN_CHECK(!array.status().message().empty());
    return 0;
  }
  const gdn::Tensor& view = array->view;
  const auto count = static_cast<size_t>(view.shape.NumElements());
  GDN_CHECK(array->storage.size_bytes() == count * gdn::SizeOf(view.dtype));
  // Every byte of it can be read.
  uint8_t sum = 0;
  for (size_t i = 0; i < array->storage.size_bytes(); ++i) {
    sum = static_cast<uint8_t>(sum + static_cast<uint8_t>(array->storage.data()[i]));
  }
  volatile uint8_t sink = sum;
  return static_cast<int>(sink) * 0;
}
