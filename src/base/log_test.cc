// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "base/version.h"

namespace gdn {
namespace {

TEST(Log, ParsesItsLevels) {
  EXPECT_EQ(ParseLogLevel("error"), LogLevel::kError);
  EXPECT_EQ(ParseLogLevel("warning"), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("info"), LogLevel::kInfo);
  EXPECT_EQ(ParseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("Error"), std::nullopt);
  EXPECT_EQ(ParseLogLevel(""), std::nullopt);
}

TEST(Log, DropsLinesAboveTheLevel) {
  EXPECT_TRUE(LogEnabled(LogLevel::kWarning));
  EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
  testing::internal::CaptureStderr();
  Log(LogLevel::kInfo, "dropped");
  Log(LogLevel::kError, "shown");
  SetLogLevel(LogLevel::kDebug);
  Log(LogLevel::kDebug, "shown too");
  SetLogLevel(LogLevel::kWarning);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gdn: error: shown\ngdn: debug: shown too\n");
}

TEST(Version, NamesTheProgramTheCommitAndTheBackends) {
  const std::string commit = CommitHash();
  EXPECT_TRUE(std::regex_match(commit, std::regex("[0-9a-f]{7}|unknown"))) << commit;
  const std::regex version("gdn [0-9.]+ \\(commit " + commit + "\\) backends: cpu(, vulkan)?");
  EXPECT_TRUE(std::regex_match(VersionString(), version)) << VersionString();
}

}  // namespace
}  // namespace gdn
