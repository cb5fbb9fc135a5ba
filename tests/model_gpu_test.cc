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

// The emulation has a product of its own in place of a vendor's library.
TEST_F(DeviceModel, VendorsMatrixProductsGiveNearlyTheSameLogits) {
  constexpr int64_t kTokens = 24;
  const std::vector<int32_t> tokens = Prompt(kTokens + 1);
  const auto run = [&](bool vendor_gemm, std::string* kernels) {
    const ModelOptions options{
        .device = TestDevice::Get().device(), .vendor_gemm = vendor_gemm, .round_logits = false};
    const auto model = LoadTestModel(kTiny, options, kLimits, pool_);
    TestSequence sequence = MakeTestSequence(kLimits, 0, tokens);
    if (model == nullptr) return sequence.logits;
    RunStep(*model, {{&sequence, kTokens}});
    RunStep(*model, {{&sequence, 1, kDecode}});
    for (const KernelLog::Entry& entry : model->kernels().entries()) {
      *kernels += std::string(entry.kernel) + " ";
    }
    return sequence.logits;
  };
  std::string own_kernels;
  std::string vendor_kernels;
  const TestLogits own = run(false, &own_kernels);
  const TestLogits vendor = run(true, &vendor_kernels);
  ASSERT_EQ(vendor.rows(), kTokens + 1);
  EXPECT_LE(Nmse(vendor.values, own.values), 1e-4);
  EXPECT_NE(vendor.values, own.values) << "the same order of additions: was it the library?";
  EXPECT_EQ(own_kernels.find("vendor"), std::string::npos);
  EXPECT_NE(own_kernels.find("linear_silu_and_mul"), std::string::npos);
  EXPECT_NE(vendor_kernels.find("linear__vendor"), std::string::npos);
  EXPECT_EQ(vendor_kernels.find("linear_silu_and_mul"), std::string::npos);
}

}  // namespace
}  // namespace gdn
