// SPDX-License-Identifier: Apache-2.0
// Every golden case of an operator that runs on a device (TestDevice), under the gates of the CPU.
#pragma once

#include <gtest/gtest.h>

#include "ops/common/testing/device_testing.h"
#include "parity/goldens_testing.h"

namespace gdn {
namespace {

// Of mixtures of experts, which run on the CPU alone.
bool IsExperts(const std::string& folder) { return folder.find("moe_") != std::string::npos; }

// Returns how many ran.
size_t RunAll(const std::vector<std::string>& folders) {
  Result<std::unique_ptr<Workbench>> bench = Workbench::Open(TestDevice::Get().device(), "", 1);
  GDN_CHECK(bench.ok());
  size_t ran = 0;
  for (const std::string& folder : folders) {
    if (!IsExperts(folder) && ExpectParity(**bench, folder)) ++ran;
  }
  return ran;
}

size_t WithoutExperts(const std::vector<std::string>& folders) {
  return folders.size() - static_cast<size_t>(std::ranges::count_if(folders, IsExperts));
}

TEST(DeviceGoldens, InterpreterCasesPass) {
  const std::vector<std::string> folders = FoldersIn(kInterpreter);
  ASSERT_EQ(folders.size(), kInterpreterCases);
  EXPECT_EQ(RunAll(folders), WithoutExperts(folders));
}

TEST(DeviceGoldens, DumpsPass) {
  if (!std::filesystem::exists(kGb10)) GTEST_SKIP() << "no dumps at " << kGb10;
  const std::vector<std::string> folders = FoldersIn(kGb10);
  ASSERT_EQ(folders.size(), kDumps);
  EXPECT_EQ(RunAll(folders), WithoutExperts(folders));
}

}  // namespace
}  // namespace gdn
