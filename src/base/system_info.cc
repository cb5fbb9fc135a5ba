// SPDX-License-Identifier: Apache-2.0
#include "base/system_info.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace gdn {
namespace {

// The value of a line "key:  1234 kB" of a file of the proc file system.
size_t ProcKilobytes(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':') {
      return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10) * 1024;
    }
  }
  return 0;
}

}  // namespace

int NumCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max(1, CPU_COUNT(&cores));
}

size_t AvailableMemoryBytes() { return ProcKilobytes("/proc/meminfo", "MemAvailable"); }
size_t TotalMemoryBytes() { return ProcKilobytes("/proc/meminfo", "MemTotal"); }
size_t PeakMemoryBytes() { return ProcKilobytes("/proc/self/status", "VmHWM"); }

}  // namespace gdn
