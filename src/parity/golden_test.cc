// SPDX-License-Identifier: Apache-2.0
// Every golden case on every kernel of this machine: the vector targets, and the scalar references.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "ops/common/testing/simd_targets.h"
#include "parity/report.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

// Cases of the interpreter in the tree; a case that is added or lost is to be counted here.
constexpr size_t kInterpreterCases = 51;
// Dumps of the reference on a GPU, which lie outside the tree.
constexpr size_t kDumps = 18;

const fs::path kInterpreter = fs::path(GDN_SOURCE_DIR) / "parity/goldens/interpreter";
const fs::path kGb10 = fs::path(GDN_SOURCE_DIR) / "../shared/goldens/gb10";

std::vector<std::string> FoldersIn(const fs::path& root) {
  std::vector<std::string> out;
  std::error_code absent;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, absent)) {
    out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  return out;
}

// Returns how many ran.
size_t RunAll(const std::vector<std::string>& folders, const std::string& impl) {
  Workbench bench({}, impl, 2);
  size_t ran = 0;
  for (const std::string& folder : folders) {
    SCOPED_TRACE(fs::path(folder).filename().string());
    const Result<ParityReport> report = RunParity(bench, folder, Numerics{});
    if (!report.ok()) {
      ADD_FAILURE() << report.status().message();
      continue;
    }
    EXPECT_FALSE(report->rows.empty());
    EXPECT_TRUE(report->Passes());
    if (impl.empty()) {
      EXPECT_EQ(report->kernels.find("__ref"), std::string::npos) << report->kernels;
    }
    for (const ParityRow& row : report->rows) {
      EXPECT_TRUE(row.pass) << row.name << ": " << row.distance.differ << " of "
                            << row.distance.elements << " differ, max " << row.distance.max_abs
                            << ", nmse " << row.distance.nmse << "; gate " << row.gate.ToString();
    }
    ++ran;
  }
  return ran;
}

TEST(ParityGoldens, InterpreterCasesPassOnEveryVectorTarget) {
  const std::vector<std::string> folders = FoldersIn(kInterpreter);
  ForEachSimdTarget([&] { EXPECT_EQ(RunAll(folders, ""), kInterpreterCases); });
}

TEST(ParityGoldens, InterpreterCasesPassOnTheScalarReferences) {
  EXPECT_EQ(RunAll(FoldersIn(kInterpreter), "ref"), kInterpreterCases);
}

TEST(ParityGoldens, DumpsPassOnEveryVectorTarget) {
  if (!fs::exists(kGb10)) GTEST_SKIP() << "no dumps at " << kGb10;
  const std::vector<std::string> folders = FoldersIn(kGb10);
  ForEachSimdTarget([&] { EXPECT_EQ(RunAll(folders, ""), kDumps); });
}

TEST(ParityGoldens, DumpsPassOnTheScalarReferences) {
  if (!fs::exists(kGb10)) GTEST_SKIP() << "no dumps at " << kGb10;
  EXPECT_EQ(RunAll(FoldersIn(kGb10), "ref"), kDumps);
}

}  // namespace
}  // namespace gdn
