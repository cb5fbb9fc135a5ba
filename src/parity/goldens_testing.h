// SPDX-License-Identifier: Apache-2.0
// The golden cases that tests run, on any workbench.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "parity/report.h"

namespace gdn {

// Cases of the interpreter in the tree; a case that is added or lost is to be counted here.
inline constexpr size_t kInterpreterCases = 51;
// Dumps of the reference on a GPU, which lie outside the tree.
inline constexpr size_t kDumps = 18;

inline const std::filesystem::path kInterpreter =
    std::filesystem::path(GDN_SOURCE_DIR) / "parity/goldens/interpreter";
inline const std::filesystem::path kGb10 =
    std::filesystem::path(GDN_SOURCE_DIR) / "../shared/goldens/gb10";

inline std::vector<std::string> FoldersIn(const std::filesystem::path& root) {
  std::vector<std::string> out;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(root, absent)) {
    out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  return out;
}

// Every output of the folder's case passes its gate; false where the case did not run.
inline bool ExpectParity(Workbench& bench, const std::string& folder) {
  SCOPED_TRACE(std::filesystem::path(folder).filename().string());
  const Result<ParityReport> report = RunParity(bench, folder, Numerics{});
  if (!report.ok()) {
    ADD_FAILURE() << report.status().message();
    return false;
  }
  EXPECT_FALSE(report->rows.empty());
  EXPECT_TRUE(report->Passes());
  if (bench.impl().empty()) {
    EXPECT_EQ(report->kernels.find("__ref"), std::string::npos) << report->kernels;
  }
  for (const ParityRow& row : report->rows) {
    EXPECT_TRUE(row.pass) << row.name << ": " << row.distance.differ << " of "
                          << row.distance.elements << " differ, max " << row.distance.max_abs
                          << ", nmse " << row.distance.nmse << "; gate " << row.gate.ToString();
  }
  return true;
}

}  // namespace gdn
