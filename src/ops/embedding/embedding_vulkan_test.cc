// SPDX-License-Identifier: Apache-2.0
#include "ops/common/testing/vulkan_testing.h"
#include "ops/embedding/embedding_device_testing.h"

namespace gdn {
namespace {

TEST(EmbeddingVulkan, FindsTokensInATableThatNoBindingHolds) {
  const vulkan::Stream& stream = vulkan::StreamOf(TestDevice::Context());
  const uint64_t max_bytes = stream.caps().max_storage_range;
  if (max_bytes > (uint64_t{1} << 28)) GTEST_SKIP() << "a binding holds " << max_bytes << " bytes";
  constexpr int64_t kHidden = 1024;
  const auto vocab = static_cast<int32_t>(max_bytes / (kHidden * 4)) + 50;
  std::vector<float> rows(static_cast<size_t>(vocab) * kHidden);
  for (int32_t row = 0; row < vocab; ++row) {
    rows[static_cast<size_t>(row) * kHidden + 1] = static_cast<float>(row);
  }
  const Weight view = Weight::View(ConstTensor(rows.data(), Shape{vocab, kHidden}));
  const Weight table = OnTestDevice(view);
  const std::vector<int32_t> ids = {vocab - 1, 0, vocab - 64, vocab / 2};
  TestRows out(DType::kF32, 4, kHidden);
  DeviceRows out_device(out);
  EmbeddingArgs args;
  args.ids = ids;
  args.table = &table;
  args.out = out_device.view();
  ASSERT_TRUE(Embedding(TestDevice::Context(), args).ok());
  out_device.Fetch();
  for (size_t t = 0; t < ids.size(); ++t) {
    EXPECT_EQ(out.At(static_cast<int64_t>(t), 1), static_cast<float>(ids[t]));
    EXPECT_EQ(out.At(static_cast<int64_t>(t), 2), 0);
  }
}

}  // namespace
}  // namespace gdn
