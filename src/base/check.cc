// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace gdn {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "gdn: internal error at %s:%d: %s does not hold\n", file, line, condition);
  std::abort();
}

}  // namespace gdn
