// SPDX-License-Identifier: Apache-2.0
// What the program says and does where Vulkan fails: tests/vulkan_faults/fault_layer.cc makes the
// driver fail as GDN_FAULT says.
#include <chrono>
#include <map>
#include <optional>

#include "cli_testing.h"

namespace gdn {
namespace {

const std::string kRun = "run -m " + kTiny + " -p 'In the beginning' -n 16 --temp 0 ";
const std::string kOnVulkan = kRun + "--device vulkan ";
const std::string kOnAny = kRun + "--json --device auto ";

class FaultsVulkan : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    begin_ = std::chrono::steady_clock::now();
    const char* layers = std::getenv("VK_INSTANCE_LAYERS");
    Set("VK_INSTANCE_LAYERS",
        (layers == nullptr ? "" : std::string(layers) + ":") + "VK_LAYER_GDN_faults");
    Set("XDG_DATA_HOME", GDN_FAULT_LAYER_DATA_HOME);
    Set("XDG_CACHE_HOME", dir_ / "cache");
    // Mesa's layer that sorts devices crashes where a layer below has none.
    Set("NODEVICE_SELECT", "1");
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) {
      if (value.has_value()) {
        setenv(name.c_str(), value->c_str(), 1);
      } else {
        unsetenv(name.c_str());
      }
    }
    // Far more than any of them needs, less than a hang.
    EXPECT_LT(std::chrono::steady_clock::now() - begin_, std::chrono::seconds(240));
    Cli::TearDown();
  }

  // For the programs of this test.
  void Set(const std::string& name, const std::string& value) {
    const char* before = std::getenv(name.c_str());
    before_.try_emplace(name,
                        before == nullptr ? std::nullopt : std::optional<std::string>(before));
    setenv(name.c_str(), value.c_str(), 1);
  }
  void SetFault(const std::string& fault) { Set("GDN_FAULT", fault); }
  void HideLoader() {
    std::ofstream(dir_ / "libvulkan.so.1") << "no library";
    Set("LD_LIBRARY_PATH", dir_);
  }
  void HideDrivers() { Set("VK_ICD_FILENAMES", dir_ / "nothing.json"); }

  void ExpectCpuAndOneLine(const std::string& arguments, const std::string& begin,
                           const std::vector<std::string>& words) const {
    const Outcome outcome = Gdn(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(Json::parse(outcome.out)["device"], "cpu");
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with(begin)) << outcome.err;
    EXPECT_TRUE(outcome.err.ends_with("; running on the CPU\n")) << outcome.err;
    for (const std::string& word : words) {
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " in " << outcome.err;
    }
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
  std::chrono::steady_clock::time_point begin_;
};

struct Case {
  const char* fault;
  std::vector<std::string> words;
};

TEST_F(FaultsVulkan, NoLoader) {
  HideLoader();
  ExpectBadInput(kOnVulkan, {"vulkan: there is no loader", "libvulkan.so.1"});
  ExpectBadInput(kRun + "--device vulkan:0", {"vulkan: there is no loader"});
  // Most machines without a GPU: a line only for those who ask.
  ExpectCpuAndOneLine(kOnAny + "--log-level info", "gdn: info: vulkan: there is no loader", {});
  EXPECT_EQ(Gdn(kOnAny).err, "");
}

TEST_F(FaultsVulkan, NoDriver) {
  HideDrivers();
  const std::vector<std::string> words = {"vulkan: no driver", "VK_ERROR_INCOMPATIBLE_DRIVER"};
  ExpectBadInput(kOnVulkan, words);
  ExpectCpuAndOneLine(kOnAny, "gdn: warning: ", words);
}

TEST_F(FaultsVulkan, WhatIsSeenBeforeADeviceIsChosenSendsAutoToTheCpu) {
  const std::vector<Case> cases = {
      {"no-driver", {"vulkan: no driver"}},
      {"no-device", {"vulkan: no device"}},
      {"old-version", {"vulkan:0", "Vulkan 1.1", "1.2"}},
      {"small-shared", {"vulkan:0", "8192 bytes", "32768"}},
      {"no-16bit", {"vulkan:0", "storageBuffer16BitAccess"}},
  };
  for (const auto& [fault, words] : cases) {
    SCOPED_TRACE(fault);
    SetFault(fault);
    ExpectBadInput(kOnVulkan, words);
    // A software driver is never chosen: it has to look like a GPU to be missed.
    SetFault(std::string("discrete,") + fault);
    ExpectCpuAndOneLine(kOnAny, "gdn: warning: ", words);
  }
}

TEST_F(FaultsVulkan, DevicesSayWhatTheyLack) {
  SetFault("no-16bit");
  const Outcome outcome = Gdn("devices --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const Json devices = Json::parse(outcome.out);
  ASSERT_GE(devices.size(), 2U);
  EXPECT_EQ(devices[0]["usable"], true);
  EXPECT_EQ(devices[1]["name"], "vulkan:0");
  EXPECT_EQ(devices[1]["usable"], false);
  EXPECT_NE(devices[1]["why_not"].get<std::string>().find("storageBuffer16BitAccess"),
            std::string::npos);
}

TEST_F(FaultsVulkan, WhatFailsLaterIsOneLine) {
  const std::string memory = "VK_ERROR_OUT_OF_DEVICE_MEMORY";
  const std::string lost = "VK_ERROR_DEVICE_LOST";
  const std::vector<Case> cases = {
      {"open", {"cannot be opened", "VK_ERROR_INITIALIZATION_FAILED"}},
      {"allocate", {"no device memory for model.embed_tokens.weight", "8.00 MiB", memory}},
      {"allocate:2", {"no device memory for ", memory}},
      {"allocate:3", {"no device memory for ", memory}},
      {"pipeline", {"the shader embedding_vulkan of bf16", "VK_ERROR_INITIALIZATION_FAILED"}},
      {"pipeline:5", {"the shader ", "_vulkan of bf16", "VK_ERROR_INITIALIZATION_FAILED"}},
      {"lost", {"the device refused its work", lost}},
      {"lost-wait", {"the device failed at its work", lost}},
      {"discrete,allocate", {"no device memory for model.embed_tokens.weight", memory}},
      {"discrete,allocate:2", {"no device memory for what a step uploads", memory}},
      {"discrete,allocate:3", {"no device memory for ", memory}},
      {"discrete,allocate:4", {"no device memory for ", memory}},
      {"discrete,allocate:5", {"no device memory for what is read back", memory}},
      {"discrete,pipeline", {"the shader ", "VK_ERROR_INITIALIZATION_FAILED"}},
      {"discrete,lost", {"the device refused its work", lost}},
      {"discrete,lost-wait:3", {"the device failed at its work", lost}},
  };
  for (const auto& [fault, words] : cases) {
    SCOPED_TRACE(fault);
    SetFault(fault);
    ExpectBadInput(kOnVulkan, words);
  }
}

TEST_F(FaultsVulkan, ADeviceLostOnTheWayKeepsWhatWasSaid) {
  SetFault("");
  const Outcome whole = Gdn(kOnVulkan);
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  for (const char* fault : {"lost:6", "lost-wait:6"}) {
    SCOPED_TRACE(fault);
    SetFault(fault);
    const Outcome outcome = Gdn(kOnVulkan);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_GT(outcome.out.size(), 3U);
    EXPECT_LT(outcome.out.size(), whole.out.size());
    // It ends its line, as a whole answer does.
    const std::string said = outcome.out.substr(0, outcome.out.find_last_not_of('\n') + 1);
    EXPECT_TRUE(whole.out.starts_with(said)) << outcome.out;
    EXPECT_TRUE(outcome.err.starts_with("gdn: error: vulkan: the device ")) << outcome.err;
    EXPECT_NE(outcome.err.find("VK_ERROR_DEVICE_LOST"), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
}

// No fault, but the way of a device with memory of its own.
TEST_F(FaultsVulkan, WhatCrossesByCopiesIsTheSame) {
  SetFault("");
  const Outcome mapped = Gdn(kOnVulkan + "--json");
  SetFault("discrete");
  const Outcome copied = Gdn(kOnAny);
  for (const Outcome* outcome : {&mapped, &copied}) {
    ASSERT_EQ(outcome->exit_code, 0) << outcome->err;
    EXPECT_EQ(outcome->err, "");
    EXPECT_EQ(Json::parse(outcome->out)["device"], "vulkan");
  }
  EXPECT_EQ(Json::parse(copied.out)["tokens"], Json::parse(mapped.out)["tokens"]);
}

}  // namespace
}  // namespace gdn
