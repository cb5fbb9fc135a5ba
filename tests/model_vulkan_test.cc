// SPDX-License-Identifier: Apache-2.0
#include <hwy/targets.h>

#include "model_device_testing.h"
#include "ops/common/testing/vulkan_testing.h"

namespace gdn {
namespace {

// Every device does the same additions in the same order. lavapipe rounds as IEEE 754 does but has
// no fused multiply-add, and neither has the SSE4 target.
TEST_F(DeviceModel, LogitsBeforeRoundingHaveTheBitsOfACpuWithoutFma) {
  if ((hwy::SupportedTargets() & HWY_SSE4) == 0) GTEST_SKIP() << "this CPU has no SSE4";
  if (!static_cast<vulkan::VulkanBackend&>(TestDevice::Get()).stream().caps().is_cpu)
    GTEST_SKIP() << "this is not lavapipe";
  const std::vector<int32_t> tokens = Prompt(kPrompt + kDecoded);
  const TestLogits got = Logits(TestDevice::Get().device(), PrefillMode::kChunk, tokens);
  hwy::SetSupportedTargetsForTest(HWY_SSE4);
  const TestLogits want = Logits({}, PrefillMode::kChunk, tokens);
  hwy::SetSupportedTargetsForTest(0);
  ASSERT_EQ(want.rows(), kPrompt + kDecoded);
  EXPECT_EQ(got.values, want.values);
}

}  // namespace
}  // namespace gdn
