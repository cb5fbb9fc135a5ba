// SPDX-License-Identifier: Apache-2.0
// The vendors' runtime over an Api that writes down what it is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "backend/gpu/vendor_runtime-inl.h"

namespace gdn::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct FakeDriver {
  int count_error = 0;
  int fail_at = -1;  // that call, of those that are written down
  int error = 700;
  std::vector<std::string> calls;

  int Call(std::string what) {
    calls.push_back(std::move(what));
    return static_cast<int>(calls.size()) - 1 == fail_at ? error : 0;
  }
};
FakeDriver driver;  // anew in every test

struct FakeGemmLibrary {
  Status Open() {
    return driver.Call("open gemm") == 0 ? OkStatus() : Unsupported("there is no library");
  }
  Status Run(const Gemm& gemm, int* /*stream*/) {
    return driver.Call(StrCat("gemm ", gemm.m, " ", gemm.n, " ", gemm.k)) == 0
               ? OkStatus()
               : Unsupported("no such product");
  }
};

struct FakeApi {
  using Error = int;
  using Stream = int*;
  using GraphTemplate = int*;
  using GraphExec = int*;
  using GemmLibrary = FakeGemmLibrary;

  static constexpr DeviceType kType = DeviceType::kCuda;
  static constexpr const char* kName = "Fake";
  static constexpr Error kSuccess = 0;
  static constexpr Error kOutOfMemory = 2;
  static constexpr int kHostToDevice = 1;
  static constexpr int kDeviceToHost = 2;
  static constexpr int kDeviceToDevice = 3;

  static const KernelEntry* EntriesOf(const Kernel& kernel) { return kernel.cuda; }
  static const char* ErrorString(Error /*error*/) { return "its words"; }
  static Error GetLastError() { return 0; }
  static std::string WhyNoDevices() { return "no driver; "; }
  static Error GetDeviceCount(int* count) {
    *count = 2;
    return driver.count_error;
  }
  static Error SetDevice(int index) { return index == 1 ? 0 : 101; }
  static Error GetCaps(int index, Caps& out) {
    out.name = StrCat("GPU ", index);
    out.max_shared_bytes = 100 << 10;
    return 0;
  }
  static Error StreamCreate(Stream* stream) {
    static int token = 0;
    *stream = &token;
    return 0;
  }
  static Error StreamDestroy(Stream /*stream*/) { return 0; }
  static Error StreamSynchronize(Stream /*stream*/) { return driver.Call("wait"); }
  static Error Malloc(void** data, size_t bytes) {
    *data = nullptr;
    return driver.Call(StrCat("malloc ", bytes));
  }
  static Error MallocManaged(void** data, size_t bytes) {
    *data = nullptr;
    return driver.Call(StrCat("managed ", bytes));
  }
  static Error Free(void* /*data*/) { return 0; }
  static Error MallocHost(void** data, size_t bytes) { return Malloc(data, bytes); }
  static Error FreeHost(void* /*data*/) { return 0; }
  static Error MemcpyAsync(void* /*to*/, const void* /*from*/, size_t bytes, int kind,
                           Stream /*stream*/) {
    return driver.Call(StrCat("copy ", bytes, " kind ", kind));
  }
  static Error MemsetAsync(void* /*data*/, int value, size_t bytes, Stream /*stream*/) {
    return driver.Call(StrCat("fill ", bytes, " with ", value));
  }
  static Error RaiseSharedBytes(const void* /*function*/, int bytes) {
    return driver.Call(StrCat("raise ", bytes));
  }
  static Error LaunchKernel(const void* /*function*/, const Grid& grid, uint32_t threads,
                            void** params, size_t shared_bytes, Stream /*stream*/) {
    return driver.Call(StrCat("launch ", grid.x, " ", threads, " ", shared_bytes, " of ",
                              *static_cast<int*>(params[0])));
  }
  static Error StreamBeginCapture(Stream /*stream*/) { return driver.Call("begin"); }
  static Error StreamEndCapture(Stream stream, GraphTemplate* graph) {
    *graph = stream;
    return driver.Call("end");
  }
  static Error GraphInstantiate(GraphExec* exec, GraphTemplate graph) {
    *exec = graph;
    return driver.Call("instantiate");
  }
  static Error GraphDestroy(GraphTemplate /*graph*/) { return 0; }
  static Error GraphExecDestroy(GraphExec /*exec*/) { return 0; }
  static Error GraphLaunch(GraphExec /*exec*/, Stream /*stream*/) { return driver.Call("graph"); }
};

constexpr int kFunction = 0;
constexpr std::array<KernelEntry, 1> kEntries = {{{&kFunction, nullptr, sizeof(int)}}};
constexpr Kernel kKernel = {.name = "the_kernel", .cuda = kEntries.data()};

Work LaunchOf(int param, uint32_t shared_bytes) {
  Work out{.kernel = &kKernel, .grid = {.x = 3}, .threads = 64, .shared_bytes = shared_bytes};
  out.params.resize(sizeof param);
  std::memcpy(out.params.data(), &param, sizeof param);
  return out;
}

std::unique_ptr<Runtime> OpenSecond(FakeDriver fake = {}) {
  driver = std::move(fake);
  return OpenVendorDevice<FakeApi>(1, false, [](const Caps&) { return std::string(); }).value();
}

TEST(VendorRuntime, SaysWhyThereIsNoDevice) {
  driver = {.count_error = 35};
  EXPECT_EQ(ListVendorDevices<FakeApi>().status().message(),
            "no driver; Fake: its words (error 35)");
  EXPECT_EQ(ListVendorDevices<FakeApi>().status().code(), StatusCode::kUnsupported);
  driver = {};
  const auto fine = [](const Caps&) { return std::string(); };
  EXPECT_THAT(OpenVendorDevice<FakeApi>(2, false, fine).status().message(),
              HasSubstr("there is no device 2, the driver names 2"));
  const auto old = [](const Caps&) { return std::string("it is old"); };
  EXPECT_EQ(OpenVendorDevice<FakeApi>(1, false, old).status().message(),
            "GPU 1 cannot be used: it is old");
}

TEST(VendorRuntime, RunsWorkInOrderAndRaisesSharedMemoryOnce) {
  const auto runtime = OpenSecond();
  const std::array<Work, 4> work = {LaunchOf(7, 1024), LaunchOf(8, 64 << 10), LaunchOf(9, 80 << 10),
                                    Work{.kind = Work::Kind::kCopy, .bytes = 5}};
  EXPECT_TRUE(runtime->Run(work).ok());
  EXPECT_THAT(driver.calls,
              ElementsAre("launch 3 64 1024 of 7", "raise 102400", "launch 3 64 65536 of 8",
                          "launch 3 64 81920 of 9", "copy 5 kind 3"));
}

TEST(VendorRuntime, GivesMatrixProductsToTheLibrary) {
  auto runtime = OpenSecond();
  ASSERT_TRUE(runtime->OpenGemm().ok());
  const std::array<Work, 2> work = {
      LaunchOf(7, 0), Work{.kind = Work::Kind::kGemm, .gemm = {.m = 2, .n = 3, .k = 4}}};
  EXPECT_TRUE(runtime->Run(work).ok());
  EXPECT_THAT(driver.calls, ElementsAre("open gemm", "launch 3 64 0 of 7", "gemm 2 3 4"));
  runtime = OpenSecond({.fail_at = 0});
  EXPECT_EQ(runtime->OpenGemm().message(), "there is no library");
  runtime = OpenSecond({.fail_at = 1});
  EXPECT_EQ(runtime->Run(work).message(), "no such product");
}

TEST(VendorRuntime, AllocatesWhatTheHostSeesWhereAsked) {
  driver = {};
  const auto fine = [](const Caps&) { return std::string(); };
  EXPECT_TRUE(OpenVendorDevice<FakeApi>(1, false, fine).value()->Allocate(256).ok());
  EXPECT_TRUE(OpenVendorDevice<FakeApi>(1, true, fine).value()->Allocate(512).ok());
  EXPECT_THAT(driver.calls, ElementsAre("malloc 256", "managed 512"));
}

TEST(VendorRuntime, CapturesAGraphAndLaunchesIt) {
  const auto runtime = OpenSecond();
  const std::array<Work, 1> work = {Work{.kind = Work::Kind::kFill, .bytes = 5}};
  const auto graph = runtime->Capture(work);
  ASSERT_TRUE(graph.ok());
  EXPECT_TRUE(runtime->Launch(**graph).ok());
  EXPECT_TRUE(runtime->Wait().ok());
  EXPECT_THAT(driver.calls,
              ElementsAre("begin", "fill 5 with 0", "end", "instantiate", "graph", "wait"));
}

TEST(VendorRuntime, EndsACaptureThatFails) {
  const auto runtime = OpenSecond({.fail_at = 1});
  const std::array<Work, 1> work = {LaunchOf(7, 0)};
  const Status status = runtime->Capture(work).status();
  EXPECT_EQ(status.message(), "GPU 1, the_kernel: Fake: its words (error 700)");
  EXPECT_THAT(driver.calls, ElementsAre("begin", "launch 3 64 0 of 7", "end"));
}

// What was begun before the error may still read and write.
TEST(VendorRuntime, WaitsOnALostDevice) {
  const auto runtime = OpenSecond({.fail_at = 0});
  const std::array<Work, 1> work = {LaunchOf(7, 0)};
  EXPECT_FALSE(runtime->Run(work).ok());
  EXPECT_EQ(runtime->Wait().message(), "GPU 1, the_kernel: Fake: its words (error 700)");
  EXPECT_THAT(driver.calls, ElementsAre("launch 3 64 0 of 7", "wait"));
}

TEST(VendorRuntime, KeepsTheErrorOfALostDeviceButNotAWantOfMemory) {
  auto runtime = OpenSecond({.fail_at = 0, .error = FakeApi::kOutOfMemory});
  EXPECT_EQ(runtime->Allocate(256).status().code(), StatusCode::kOutOfMemory);
  EXPECT_TRUE(runtime->Allocate(256).ok());
  runtime = OpenSecond({.fail_at = 0});
  EXPECT_EQ(runtime->Wait().code(), StatusCode::kUnavailable);
  EXPECT_EQ(runtime->Allocate(256).status().message(),
            "GPU 1, running the work: Fake: its words (error 700)");
  EXPECT_EQ(driver.calls.size(), 1);
}

}  // namespace
}  // namespace gdn::gpu
