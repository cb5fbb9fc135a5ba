// SPDX-License-Identifier: Apache-2.0
// Every golden case on every kernel of this machine: the vector targets, and the scalar references.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ops/common/testing/simd_targets.h"
#include "parity/goldens_testing.h"

namespace gdn {
namespace {

// Returns how many ran.
size_t RunAll(const std::vector<std::string>& folders, const std::string& impl) {
  Workbench bench(impl, 2);
  return static_cast<size_t>(std::ranges::count_if(
      folders, [&](const std::string& folder) { return ExpectParity(bench, folder); }));
}

TEST(ParityGoldens, InterpreterCasesPassOnEveryVectorTarget) {
  const std::vector<std::string> folders = FoldersIn(kInterpreter);
  ForEachSimdTarget([&] { EXPECT_EQ(RunAll(folders, ""), kInterpreterCases); });
}

TEST(ParityGoldens, InterpreterCasesPassOnTheScalarReferences) {
  EXPECT_EQ(RunAll(FoldersIn(kInterpreter), "ref"), kInterpreterCases);
}

TEST(ParityGoldens, DumpsPassOnEveryVectorTarget) {
  if (!std::filesystem::exists(kGb10)) GTEST_SKIP() << "no dumps at " << kGb10;
  const std::vector<std::string> folders = FoldersIn(kGb10);
  ForEachSimdTarget([&] { EXPECT_EQ(RunAll(folders, ""), kDumps); });
}

TEST(ParityGoldens, DumpsPassOnTheScalarReferences) {
  if (!std::filesystem::exists(kGb10)) GTEST_SKIP() << "no dumps at " << kGb10;
  EXPECT_EQ(RunAll(FoldersIn(kGb10), "ref"), kDumps);
}

}  // namespace
}  // namespace gdn
