// SPDX-License-Identifier: Apache-2.0
// What crosses between the host and a device, by each of the ways.
#include "backend/vulkan/vulkan_backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "backend/vulkan/instance.h"

namespace gdn::vulkan {
namespace {

using Crossing = VulkanBackend::Crossing;

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = kKiB * kKiB;
// The last are more than cross at once.
constexpr size_t kSizes[] = {0, 1, 3, 4 * kKiB, 4 * kKiB + 1, 16 * kMiB, 40 * kMiB + 3};

std::vector<std::byte> Pattern(size_t bytes, uint32_t seed) {
  std::vector<std::byte> out(bytes);
  uint32_t state = seed;
  for (std::byte& b : out) {
    state = state * 1664525 + 1013904223;
    b = static_cast<std::byte>(state >> 24);
  }
  return out;
}

class Crossings : public testing::TestWithParam<Crossing> {
 protected:
  void SetUp() override {
    const Result<Instance*> instance = Instance::Get();
    ASSERT_TRUE(instance.ok()) << instance.status().message();
    const auto& devices = (*instance)->devices();
    const auto usable =
        std::ranges::find_if(devices, [](const auto& d) { return d.caps.WhyNot().empty(); });
    ASSERT_NE(usable, devices.end());
    auto opened = VulkanBackend::Open(static_cast<int>(usable - devices.begin()), GetParam(), "");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    backend_ = std::move(opened).value();
  }
  void TearDown() override {
    backend_.reset();
    const Result<Instance*> instance = Instance::Get();
    ASSERT_TRUE(instance.ok());
    EXPECT_EQ((*instance)->num_validation_messages(), 0);
  }

  Storage New(size_t bytes) {
    Result<Storage> storage = backend_->memory().Allocate(bytes, "a test");
    GDN_CHECK(storage.ok());
    return std::move(storage).value();
  }
  std::vector<std::byte> Fetch(const std::byte* from, size_t bytes) {
    std::vector<std::byte> out(bytes, std::byte{0xEE});
    const Status read = backend_->Read(out.data(), from, bytes);
    EXPECT_TRUE(read.ok()) << read.message();
    return out;
  }
  void ExpectZeros(const Storage& storage, size_t bytes) {
    const std::vector<std::byte> got = Fetch(storage.data(), bytes);
    EXPECT_TRUE(std::ranges::all_of(got, [](std::byte b) { return b == std::byte{0}; }));
  }

  std::unique_ptr<VulkanBackend> backend_;
};

TEST_P(Crossings, BytesComeBack) {
  for (const size_t bytes : kSizes) {
    SCOPED_TRACE(bytes);
    const Storage a = New(bytes);
    const Storage b = New(bytes);
    ExpectZeros(a, bytes);
    const std::vector<std::byte> want = Pattern(bytes, 1);
    ASSERT_TRUE(backend_->Write(a.data(), want.data(), bytes).ok());
    backend_->Copy(b.data(), a.data(), bytes);
    // After the copy, whose source it is.
    const std::vector<std::byte> later = Pattern(bytes, 2);
    ASSERT_TRUE(backend_->Write(a.data(), later.data(), bytes).ok());
    EXPECT_EQ(Fetch(b.data(), bytes), want);
    EXPECT_EQ(Fetch(a.data(), bytes), later);
  }
}

TEST_P(Crossings, PartsOfBlocksAreTheirBytesAlone) {
  constexpr size_t kBytes = 64 * kKiB;
  const Storage a = New(kBytes);
  const Storage b = New(kBytes);
  std::vector<std::byte> want = Pattern(kBytes, 3);
  ASSERT_TRUE(backend_->Write(a.data(), want.data(), kBytes).ok());
  const std::vector<std::byte> part = Pattern(1001, 4);
  ASSERT_TRUE(backend_->Write(a.data() + 7, part.data(), part.size()).ok());
  std::ranges::copy(part, want.begin() + 7);
  EXPECT_EQ(Fetch(a.data(), kBytes), want);
  EXPECT_EQ(Fetch(a.data() + 5, 33), std::vector<std::byte>(want.begin() + 5, want.begin() + 38));
  backend_->Copy(b.data() + 3, a.data() + 11, 501);
  std::vector<std::byte> copied(kBytes);
  std::copy_n(want.begin() + 11, 501, copied.begin() + 3);
  EXPECT_EQ(Fetch(b.data(), kBytes), copied);
}

TEST_P(Crossings, BlocksAreZeroAlsoWhereOthersWereBefore) {
  for (const size_t bytes : kSizes) {
    SCOPED_TRACE(bytes);
    for (int turn = 0; turn < 2; ++turn) {
      const Storage block = New(bytes);
      ExpectZeros(block, bytes);
      const std::vector<std::byte> ones(bytes, std::byte{0xFF});
      ASSERT_TRUE(backend_->Write(block.data(), ones.data(), bytes).ok());
    }
  }
}

// A block may go while what was given to do with it has not been waited for.
TEST_P(Crossings, BlocksAreFreedWithWorkToDo) {
  const Storage kept = New(4 * kKiB);
  for (const size_t bytes : {size_t{100}, 40 * kMiB}) {
    SCOPED_TRACE(bytes);
    const std::vector<std::byte> want = Pattern(100, static_cast<uint32_t>(bytes));
    {
      const Storage gone = New(bytes);
      ASSERT_TRUE(backend_->Write(gone.data(), want.data(), want.size()).ok());
      backend_->Copy(kept.data(), gone.data(), want.size());
    }
    { const Storage unused = New(bytes); }
    EXPECT_EQ(Fetch(kept.data(), want.size()), want);
  }
  // So may all of them, and the device with them.
  const Storage last = New(40 * kMiB);
  backend_->Copy(kept.data(), last.data(), 4 * kKiB);
}

TEST_P(Crossings, TooLargeABlockIsAnError) {
  const Result<Storage> storage = backend_->memory().Allocate(size_t{1} << 46, "a test");
  ASSERT_FALSE(storage.ok());
  EXPECT_EQ(storage.status().code(), StatusCode::kOutOfMemory);
  EXPECT_NE(storage.status().message().find("a test"), std::string::npos);
  const Storage small = New(3);
  ExpectZeros(small, 3);
}

INSTANTIATE_TEST_SUITE_P(All, Crossings,
                         testing::Values(Crossing::kBest, Crossing::kCopies, Crossing::kMapped));

}  // namespace
}  // namespace gdn::vulkan
