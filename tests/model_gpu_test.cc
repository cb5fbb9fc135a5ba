// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "model_device_testing.h"
#include "ops/common/simd_target.h"
#include "ops/common/testing/gpu_testing.h"

namespace gdn {
namespace {

// The emulated matrix instructions add products with the index ascending and fused, as a CPU that
// has fma does.
TEST_F(DeviceModel, LogitsBeforeRoundingHaveTheBitsOfACpuWithFma) {
  if (std::string_view(SimdTarget()) == "sse4") GTEST_SKIP() << "this CPU has no fma";
  const std::vector<int32_t> tokens = Prompt(kPrompt + kDecoded);
  const TestLogits got = Logits(TestDevice::Get().device(), PrefillMode::kChunk, tokens);
  const TestLogits want = Logits({}, PrefillMode::kChunk, tokens);
  ASSERT_EQ(want.rows(), kPrompt + kDecoded);
  EXPECT_EQ(got.values, want.values);
}

}  // namespace
}  // namespace gdn
