// SPDX-License-Identifier: Apache-2.0
#include "tensor/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace gdn {
namespace {

TEST(Storage, IsZeroedAndAligned) {
  constexpr size_t kBytes = 3 * Storage::kAlignment + 5;
  const Result<Storage> storage = Storage::Allocate(kBytes, "a test");
  ASSERT_TRUE(storage.ok());
  EXPECT_EQ(storage->size_bytes(), kBytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % Storage::kAlignment, 0U);
  EXPECT_TRUE(std::all_of(storage->data(), storage->data() + kBytes,
                          [](std::byte b) { return b == std::byte{0}; }));
  std::fill_n(storage->data(), kBytes, std::byte{1});
}

TEST(Storage, NothingIsLegal) {
  const Result<Storage> storage = Storage::Allocate(0, "nothing");
  ASSERT_TRUE(storage.ok());
  EXPECT_EQ(storage->data(), nullptr);
  EXPECT_EQ(storage->size_bytes(), 0U);
}

TEST(Storage, MovesItsBlock) {
  Result<Storage> storage = Storage::Allocate(100, "a test");
  ASSERT_TRUE(storage.ok());
  const std::byte* data = storage->data();
  const Storage moved = *std::move(storage);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(moved.size_bytes(), 100U);
}

TEST(Storage, TooMuchIsAnErrorThatSaysForWhat) {
  const Result<Storage> storage = Storage::Allocate(size_t{1} << 60, "the cache");
  ASSERT_FALSE(storage.ok());
  EXPECT_EQ(storage.status().code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(storage.status().message(), "no memory for the cache: 1048576.00 TiB wanted");
}

TEST(OwnedTensor, IsContiguous) {
  Result<OwnedTensor> tensor = OwnedTensor::Allocate(DType::kBf16, Shape{3, 5}, "a test");
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->storage.size_bytes(), 30U);
  EXPECT_EQ(tensor->view.data, tensor->storage.data());
  EXPECT_EQ(Describe(tensor->view), "bf16 [3, 5]");
  EXPECT_TRUE(tensor->view.IsContiguous());
}

TEST(OwnedTensor, TooMuchIsAnError) {
  const auto tensor =
      OwnedTensor::Allocate(DType::kF32, Shape{int64_t{1} << 30, int64_t{1} << 28}, "a test");
  ASSERT_FALSE(tensor.ok());
  EXPECT_EQ(tensor.status().code(), StatusCode::kOutOfMemory);
}

// The byte count does not fit in 64 bits: an error, and not a small block behind a large view.
TEST(OwnedTensor, AByteCountThatOverflowsIsAnError) {
  for (const Shape& shape :
       {Shape{int64_t{1} << 32, int64_t{1} << 32}, Shape{int64_t{1} << 62, 4}, Shape{-1, 4}}) {
    const auto tensor = OwnedTensor::Allocate(DType::kF32, shape, "a test");
    ASSERT_FALSE(tensor.ok()) << shape.ToString();
    EXPECT_EQ(tensor.status().code(), StatusCode::kOutOfMemory);
  }
}

}  // namespace
}  // namespace gdn
