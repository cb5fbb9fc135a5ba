// SPDX-License-Identifier: Apache-2.0
// Runs the program as a person or a script does.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace gdn {

using Json = nlohmann::json;

inline const std::string kTiny = std::string(GDN_SOURCE_DIR) + "/models/tiny";

struct Outcome {
  int exit_code;
  std::string out;
  std::string err;
};

inline std::string Slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Cli : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    dir_ = std::filesystem::temp_directory_path() /
           ("gdn_cli_" + std::string(info->name()) + "_" + std::to_string(getpid()));
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  // arguments are words of a shell.
  Outcome Gdn(const std::string& arguments) const {
    const std::string out = (dir_ / "out").string();
    const std::string err = (dir_ / "err").string();
    const std::string command =
        std::string("'" GDN_BINARY "' ") + arguments + " >'" + out + "' 2>'" + err + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Slurp(out), Slurp(err)};
  }

  // Exit code 2, nothing on stdout, one line on stderr that holds all the words.
  void ExpectBadInput(const std::string& arguments, const std::vector<std::string>& words) const {
    SCOPED_TRACE(arguments);
    const Outcome outcome = Gdn(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("gdn: error: ")) << outcome.err;
    for (const std::string& word : words) {
      EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " in " << outcome.err;
    }
  }

  std::string CopyOfTiny() const {
    const std::filesystem::path copy = dir_ / "model";
    std::filesystem::copy(kTiny, copy);
    return copy.string();
  }

  std::filesystem::path dir_;
};

}  // namespace gdn
