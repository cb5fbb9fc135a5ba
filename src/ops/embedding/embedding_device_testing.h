// SPDX-License-Identifier: Apache-2.0
// Tests of the op on a device (TestDevice).
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ops/embedding/embedding.h"
#include "ops/linear/linear_on_device_testing.h"

namespace gdn {
namespace {

constexpr auto kIgnore = [](int64_t /*first*/, int64_t /*count*/) {};

class EmbeddingDeviceTypes : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(All, EmbeddingDeviceTypes,
                         testing::Values(DType::kF32, DType::kF16, DType::kBf16), DTypeCaseName);

TEST_P(EmbeddingDeviceTypes, CopyRowsBitForBitFromEitherLayout) {
  constexpr int64_t kVocab = 70;
  const std::vector<int32_t> all_ids = {69, 0, 31, 32, 33, 69, 64};
  for (const int64_t hidden : {1, 2, 7, 64, 1025}) {
    TestRows rows(GetParam(), kVocab, hidden);
    Rng rng(3);
    for (std::byte& byte : rows.memory()) byte = static_cast<std::byte>(rng.NextU64());  // NaN too
    ThreadPool pool(1);
    const Weight view = Weight::View(rows.view());
    const Weight packed = Weight::Pack(rows.view(), pool, kIgnore).value();
    for (const Weight* table : {&packed, &view}) {
      const Weight on_device = OnTestDevice(*table);
      for (const size_t num_tokens : {size_t{0}, size_t{1}, all_ids.size()}) {
        const auto count = static_cast<int64_t>(num_tokens);
        TestRows got(GetParam(), count, hidden, hidden + 3);
        TestRows want = got;
        DeviceRows got_device(got);
        EmbeddingArgs args;
        args.ids = std::span(all_ids).first(num_tokens);
        args.table = &on_device;
        args.out = got_device.view();
        ASSERT_TRUE(Embedding(TestDevice::Context(), args).ok());
        got_device.Fetch();
        args.table = table;
        args.out = want.view();
        TestContext context;
        ASSERT_TRUE(Embedding(context("ref"), args).ok());
        EXPECT_EQ(got.bytes(), want.bytes());
      }
    }
  }
}

}  // namespace
}  // namespace gdn
