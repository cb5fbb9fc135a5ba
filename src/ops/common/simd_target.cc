// SPDX-License-Identifier: Apache-2.0
#include "ops/common/simd_target.h"

#include <hwy/targets.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <string>

namespace gdn {

const char* SimdTarget() {
  static const std::string name = [] {
    // The lowest bit is the best target (hwy/detect_targets.h); the build disables none of those
    // that the CPU may report but AVX3_DL and above, which run as AVX3.
    const int64_t supported = hwy::SupportedTargets();
    const int64_t best = supported & -supported;
    std::string text = best < HWY_AVX3 && (supported & HWY_AVX3) != 0 ? hwy::TargetName(HWY_AVX3)
                                                                      : hwy::TargetName(best);
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  }();
  return name.c_str();
}

const char* KernelId(const char* stem) {
  static std::mutex mutex;
  static std::map<const char*, std::string> ids;
  const std::lock_guard lock(mutex);
  std::string& id = ids[stem];
  if (id.empty()) id = std::string(stem) + "__" + SimdTarget();
  return id.c_str();
}

}  // namespace gdn
