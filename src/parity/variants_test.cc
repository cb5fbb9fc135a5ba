// SPDX-License-Identifier: Apache-2.0
// The options of an operator that are not those of a dump: how many elements they change there, as
// counted when the numerics were settled.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "io/temp_folder.h"
#include "parity/report.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

// The dump with args[arg] = word, run; its rows' counts by name.
class Variants : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kGb10)) GTEST_SKIP() << "no dumps at " << kGb10;
  }
  void Run(const std::string& dump, const char* arg, const char* word) {
    for (const fs::directory_entry& file : fs::directory_iterator(kGb10 / dump)) {
      fs::copy_file(file.path(), folder_.File(file.path().filename().string()));
    }
    nlohmann::json manifest = nlohmann::json::parse(std::ifstream(kGb10 / dump / "manifest.json"));
    manifest["args"][arg] = word;
    fs::permissions(folder_.File("manifest.json"), fs::perms::owner_all);
    folder_.Write("manifest.json", manifest.dump());
    Workbench bench("", 1);
    report_ = RunParity(bench, folder_.path(), Numerics{}).value();
  }
  int64_t DifferIn(const std::string& row) const {
    return std::ranges::find(report_.rows, row, &ParityRow::name)->distance.differ;
  }

  const fs::path kGb10 = fs::path(GDN_SOURCE_DIR) / "../shared/goldens/gb10";
  TempFolder folder_;
  ParityReport report_;
};

TEST_F(Variants, KktOperandInFullF32) {
  Run("gdn_prefill_bf16_realdims", "kkt_operand", "ieee");
  EXPECT_EQ(DifferIn("out"), 62);
  EXPECT_FALSE(report_.Passes());
}

TEST_F(Variants, PackedDecodeBetaInF32) {
  Run("gdn_packed_decode_oracle", "packed_beta", "f32");
  EXPECT_EQ(DifferIn("out"), 46);
  EXPECT_NEAR(static_cast<double>(DifferIn("state_out")), 5835, 20);
  EXPECT_FALSE(report_.Passes());
}

TEST_F(Variants, ExpertsCombinedAsTheFusedKernelReads) {
  Run("moe_block_bf16_small", "combine", "fused_kernel");
  EXPECT_EQ(DifferIn("routed_out"), 126);
  EXPECT_EQ(DifferIn("out"), 87);
  EXPECT_EQ(DifferIn("shared_out"), 0);
  EXPECT_FALSE(report_.Passes());
}

}  // namespace
}  // namespace gdn
