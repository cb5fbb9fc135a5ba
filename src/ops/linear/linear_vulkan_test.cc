// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/vulkan_testing.h"
#include "ops/linear/linear_device_testing.h"

namespace gdn {
namespace {

const vulkan::Stream& Stream() {
  return static_cast<vulkan::VulkanBackend&>(TestDevice::Get()).stream();
}

// Small whole numbers: their sums are exact in any order.
TEST(LinearVulkan, ReadsAWeightThatNoBindingHolds) {
  const uint64_t max_bytes = Stream().caps().max_storage_range;
  if (max_bytes > (uint64_t{1} << 28)) GTEST_SKIP() << "a binding holds " << max_bytes << " bytes";
  constexpr int64_t kInputs = 1024;
  const auto num_outputs = static_cast<int64_t>(max_bytes / (kInputs * 4)) + 100;
  std::vector<float> rows(static_cast<size_t>(num_outputs * kInputs));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i % 13) - 6;
  TestRows x(DType::kF32, 1, kInputs);
  for (int64_t k = 0; k < kInputs; ++k) x.Set(0, k, static_cast<float>(k % 5) - 2);
  const Weight view = Weight::View(ConstTensor(rows.data(), Shape{num_outputs, kInputs}));
  const Weight weight = OnTestDevice(view);
  TestRows out(DType::kF32, 1, num_outputs);
  const DeviceRows x_device(x);
  DeviceRows out_device(out);
  const int64_t before = Stream().counts().dispatches;
  ASSERT_TRUE(
      Linear(TestDevice::Context(), {x_device.view(), &weight, DType::kF32, out_device.view()})
          .ok());
  EXPECT_EQ(Stream().counts().dispatches - before, 2);
  out_device.Fetch();
  for (int64_t n = 0; n < num_outputs; n += n < num_outputs - 200 ? 1001 : 1) {
    float want = 0;
    for (int64_t k = 0; k < kInputs; ++k) {
      want += x.At(0, k) * rows[static_cast<size_t>(n * kInputs + k)];
    }
    ASSERT_EQ(out.At(0, n), want) << n;
  }
}

}  // namespace
}  // namespace gdn
