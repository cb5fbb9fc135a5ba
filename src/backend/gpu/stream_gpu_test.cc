// SPDX-License-Identifier: Apache-2.0
// Steps of work on the emulation: order, uploads, graphs, errors.
#define GDN_GPU_WARP 32
#define GDN_GPU_NAMESPACE gpu_test

#include "backend/gpu/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "backend/gpu/emu/emu_runtime.h"
#include "backend/gpu/gpu_backend.h"
#include "backend/gpu/port.h"

namespace gdn::gpu_test {
namespace {

struct Params {
  const int32_t* values;
  int32_t* sums;
  bool breaks;
};

// sums[i] += values[i], for a block of 32.
void Add(Params p) {
  if (p.breaks && ThreadIndex() == 7) Barrier();
  p.sums[ThreadIndex()] += p.values[ThreadIndex()];
  if (p.breaks) WarpBarrier();
}

constexpr gpu::KernelEntry kEntries[] = {MakeEntry<Params, Add>()};
constexpr gpu::Kernel kAdd = {"add", kEntries, kEntries, nullptr, nullptr};

class GpuStream : public testing::Test {
 protected:
  GpuStream() : backend_(gpu::NewEmuRuntime({}, 2), 32) {
    Result<Storage> storage = backend_.memory().Allocate(32 * sizeof(int32_t), "sums");
    GDN_CHECK(storage.ok());
    sums_ = std::move(storage).value();
  }
  gpu::Stream& stream() { return backend_.stream(); }
  void AddUploaded(int32_t first, bool breaks = false) {
    std::vector<int32_t> values(32);
    std::iota(values.begin(), values.end(), first);
    const int32_t* device = stream().Upload(std::span<const int32_t>(values));
    stream().Launch(kAdd, 0, {}, 32, 0,
                    Params{device, reinterpret_cast<int32_t*>(sums_.data()), breaks});
  }
  std::vector<int32_t> Sums() {
    std::vector<int32_t> out(32, -1);
    EXPECT_TRUE(backend_.Read(out.data(), sums_.data(), 32 * sizeof(int32_t)).ok());
    return out;
  }

  gpu::GpuBackend backend_;
  Storage sums_;
};

TEST_F(GpuStream, RunsAStepInOrder) {
  AddUploaded(1);
  AddUploaded(100);
  EXPECT_EQ(Sums()[3], 4 + 103);
  EXPECT_EQ(stream().counts().dispatches, 2);
  EXPECT_EQ(stream().counts().bytes_to_device, 256);
}

TEST_F(GpuStream, BringsWhatIsAskedForTwiceOnce) {
  std::vector<int32_t> values(32, 3);
  const std::span<const int32_t> span(values);
  const int32_t* first = stream().Upload(span);
  EXPECT_EQ(stream().Upload(span), first);
  EXPECT_EQ(stream().counts().bytes_to_device, 128);
  values[31] = 4;
  EXPECT_NE(stream().Upload(span), first);
  EXPECT_NE(stream().Upload(span.first(31)), first);
  EXPECT_EQ(stream().counts().bytes_to_device, 128 + 128 + 124);
  // The next step has bytes of its own.
  AddUploaded(0);
  ASSERT_TRUE(stream().Finish().ok());
  const int64_t before = stream().counts().bytes_to_device;
  stream().Upload(span);
  EXPECT_EQ(stream().counts().bytes_to_device, before + 128);
}

// The third step is the second's graph again, with values of its own.
TEST_F(GpuStream, RepeatsAStepAsAGraph) {
  ASSERT_TRUE(stream().Finish().ok());
  int32_t want = 0;
  for (int32_t step = 0; step < 5; ++step) {
    AddUploaded(step * 10);
    ASSERT_TRUE(stream().Finish().ok());
    want += step * 10 + 2;
    EXPECT_EQ(stream().num_graph_launches(), step);
  }
  EXPECT_EQ(Sums()[2], want);
}

TEST_F(GpuStream, TellsStepsApart) {
  for (int32_t i = 0; i < 60; ++i) {
    for (int32_t j = 0; j <= i % 20; ++j) AddUploaded(0);
    ASSERT_TRUE(stream().Finish().ok());
  }
  EXPECT_EQ(Sums()[1], 3 * 210);
}

TEST_F(GpuStream, CopiesAndFillsInOrder) {
  AddUploaded(5);
  stream().Copy(sums_.data(), sums_.data() + 64, 8);
  stream().FillZero(sums_.data() + 64, 4);
  const std::vector<int32_t> sums = Sums();
  EXPECT_EQ(sums[0], 21);
  EXPECT_EQ(sums[1], 22);
  EXPECT_EQ(sums[16], 0);
  EXPECT_EQ(sums[17], 22);
}

TEST_F(GpuStream, KeepsItsFirstError) {
  AddUploaded(0, true);
  const Status status = stream().Finish();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("add: "));
  AddUploaded(0);
  EXPECT_EQ(stream().Finish().message(), status.message());
  int32_t value = 0;
  EXPECT_EQ(backend_.Read(&value, sums_.data(), 4).message(), status.message());
  EXPECT_EQ(backend_.Write(sums_.data(), &value, 4).message(), status.message());
}

TEST_F(GpuStream, RefusesMoreSharedMemoryThanThereIs) {
  stream().Launch(kAdd, 0, {}, 32, 1 << 20, Params{});
  EXPECT_THAT(std::string(stream().Finish().message()),
              testing::HasSubstr("add wants 1048576 bytes of shared memory, there are 65536"));
}

TEST_F(GpuStream, OutOfMemoryNamesWhatItWasFor) {
  const Result<Storage> storage = backend_.memory().Allocate(size_t{1} << 60, "a cache");
  ASSERT_FALSE(storage.ok());
  EXPECT_EQ(storage.status().code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(std::string(storage.status().message()), testing::HasSubstr("for a cache"));
  AddUploaded(1);
  EXPECT_EQ(Sums()[0], 1);
}

TEST_F(GpuStream, MatrixProductsTakeTheirPlaceInTheStep) {
  ASSERT_FALSE(backend_.has_vendor_gemm());
  ASSERT_TRUE(stream().OpenGemm().ok());
  EXPECT_TRUE(backend_.has_vendor_gemm());
  const std::vector<float> x = {1, 2, 0, 3, 4, 0};          // [2, 2], rows 3 apart
  const std::vector<float> weight = {1, 0, 0, 1, 10, 100};  // [3, 2]
  stream().Multiply({.x = stream().Upload(std::span(x)),
                     .x_stride = 3,
                     .weight = stream().Upload(std::span(weight)),
                     .out = sums_.data(),
                     .out_stride = 4,
                     .m = 2,
                     .n = 3,
                     .k = 2});
  std::vector<float> out(8, -1);
  ASSERT_TRUE(backend_.Read(out.data(), sums_.data(), 8 * sizeof(float)).ok());
  EXPECT_EQ(out, (std::vector<float>{1, 2, 210, 0, 3, 4, 430, 0}));
}

}  // namespace
}  // namespace gdn::gpu_test
