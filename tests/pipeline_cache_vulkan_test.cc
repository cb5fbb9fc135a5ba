// SPDX-License-Identifier: Apache-2.0
// Compiled pipelines on disk: kept where a folder is given, and harmless whatever lies there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ops/common/testing/vulkan_testing.h"
#include "ops/rms_norm/rms_norm.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;
using vulkan::VulkanBackend;

class PipelineCacheVulkan : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = fs::temp_directory_path() / ("gdn_pipelines_" + std::to_string(getpid()));
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  // A device with this folder runs an operator, and is closed.
  static void Run(const std::string& folder) {
    SCOPED_TRACE(folder);
    auto opened = VulkanBackend::Open(TestDevice::Get().device().index,
                                      VulkanBackend::Crossing::kBest, folder);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    VulkanBackend& backend = **opened;
    constexpr int64_t kN = 64;
    const std::vector<float> x(kN, 2.0F);
    auto data = backend.memory().Allocate(3 * kN * sizeof(float), "a test");
    ASSERT_TRUE(data.ok());
    auto* rows = reinterpret_cast<float*>(data->data());
    ASSERT_TRUE(backend.Write(rows, x.data(), kN * sizeof(float)).ok());
    ExecContext ctx;
    ctx.device = backend.device();
    ctx.backend = &backend;
    RmsNormArgs args;  // the weights are 0, of which the style makes 1
    args.x = Tensor(rows, DType::kF32, {1, kN});
    args.weight = Tensor(rows + kN, DType::kF32, {kN});
    args.out = Tensor(rows + 2 * kN, DType::kF32, {1, kN});
    ASSERT_TRUE(RmsNorm(ctx, args).ok());
    std::vector<float> out(kN);
    const Status read = backend.Read(out.data(), args.out.data, kN * sizeof(float));
    ASSERT_TRUE(read.ok()) << read.message();
    EXPECT_NEAR(out[0], 1, 1e-5);
    EXPECT_NEAR(out[kN - 1], 1, 1e-5);
  }

  // All files below the folder.
  std::vector<fs::path> Files() const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::recursive_directory_iterator(dir_)) {
      if (entry.is_regular_file()) out.push_back(entry.path());
    }
    return out;
  }
  static std::string Slurp(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void Spill(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  // It begins with the header that Vulkan prescribes.
  static void ExpectCache(const fs::path& path) {
    const std::string bytes = Slurp(path);
    VkPipelineCacheHeaderVersionOne header{};
    ASSERT_GE(bytes.size(), sizeof header);
    std::memcpy(&header, bytes.data(), sizeof header);
    EXPECT_EQ(header.headerVersion, VK_PIPELINE_CACHE_HEADER_VERSION_ONE);
    EXPECT_NE(header.vendorID, 0U);
  }

  fs::path dir_;
};

TEST_F(PipelineCacheVulkan, IsWrittenAndReadAgain) {
  const fs::path folder = dir_ / "not" / "there";
  Run(folder);
  const std::vector<fs::path> files = Files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].parent_path(), folder);
  EXPECT_TRUE(files[0].filename().string().starts_with("vulkan-")) << files[0];
  EXPECT_EQ(files[0].extension(), ".bin");
  ExpectCache(files[0]);
  Run(folder);
  EXPECT_EQ(Files(), files);
  ExpectCache(files[0]);
}

TEST_F(PipelineCacheVulkan, WhatIsNoCacheIsReplaced) {
  Run(dir_);
  const std::vector<fs::path> files = Files();
  ASSERT_EQ(files.size(), 1U);
  const std::string whole = Slurp(files[0]);
  const std::string cut = whole.substr(0, whole.size() / 2);
  for (const std::string& bytes :
       {std::string(), cut, whole.substr(0, whole.size() - 1), std::string(5000, '\xA5')}) {
    SCOPED_TRACE(bytes.size());
    Spill(files[0], bytes);
    Run(dir_);
    EXPECT_EQ(Files(), files);
    ExpectCache(files[0]);
  }
}

TEST_F(PipelineCacheVulkan, WhatCannotBeWrittenIsNot) {
  Spill(dir_ / "file", "no folder");
  Run(dir_ / "file");
  Run(dir_ / "file" / "below");
  Run("/proc/nowhere");
  EXPECT_EQ(Slurp(dir_ / "file"), "no folder");
  EXPECT_EQ(Files().size(), 1U);

  // Something else has the name: nothing is left of what was to take it.
  const fs::path other = dir_ / "other";
  Run(other);
  const std::vector<fs::path> files = Files();
  ASSERT_EQ(files.size(), 2U);
  const fs::path cache = files[0].extension() == ".bin" ? files[0] : files[1];
  fs::remove(cache);
  fs::create_directories(cache / "sub");
  Run(other);
  EXPECT_EQ(Files().size(), 1U);
}

TEST_F(PipelineCacheVulkan, WithoutAFolderNothingIsWritten) {
  const fs::path before = fs::current_path();
  fs::current_path(dir_);
  Run("");
  fs::current_path(before);
  EXPECT_TRUE(fs::is_empty(dir_));
}

}  // namespace
}  // namespace gdn
