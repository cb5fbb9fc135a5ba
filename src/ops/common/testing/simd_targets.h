// SPDX-License-Identifier: Apache-2.0
// Runs a test's body on each vector target that this CPU and the build have.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

namespace gdn {

// Whether the target's MulAdd is one rounding, as in the scalar references.
inline bool HasFma(int64_t target) { return (target & (HWY_SSE4 | HWY_SSSE3)) == 0; }

// Runs body(target) for each target, which the vector kernels then use.
template <class Body>
void ForEachVectorTarget(const Body& body) {
  const struct Reset {
    ~Reset() { hwy::SetSupportedTargetsForTest(0); }
  } reset;
  int count = 0;
  for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    body(target);
    ++count;
  }
  EXPECT_GT(count, 0);
}

// The same for a body that does not ask which target it is.
template <class Body>
void ForEachSimdTarget(const Body& body) {
  ForEachVectorTarget([&](int64_t /*target*/) { body(); });
}

}  // namespace gdn
