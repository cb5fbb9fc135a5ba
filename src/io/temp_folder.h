// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"

namespace gdn {

// Made by the constructor, removed with all in it by the destructor.
class TempFolder {
 public:
  TempFolder() : path_((std::filesystem::temp_directory_path() / "gdn_test_XXXXXX").string()) {
    GDN_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  // The path of the file written.
  std::string Write(const std::string& name, std::string_view bytes) const {
    std::ofstream(File(name), std::ios::binary) << bytes;
    return File(name);
  }

 private:
  std::string path_;
};

}  // namespace gdn
