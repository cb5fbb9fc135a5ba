// SPDX-License-Identifier: Apache-2.0
#include "server/process_info.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace gdn {

int64_t OpenFileDescriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator entries("/proc/self/fd", error);
  if (error) return 0;
  return std::distance(begin(entries), end(entries)) - 1;  // the listing has one of its own
}

size_t ResidentMemoryBytes() {
  std::ifstream file("/proc/self/statm");
  size_t total_pages = 0;
  size_t resident_pages = 0;
  file >> total_pages >> resident_pages;
  return file ? resident_pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace gdn
