// SPDX-License-Identifier: Apache-2.0
// Runs a test's body on each vector target that this CPU and the build have.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cstdint>

namespace gdn {

template <class Body>
void ForEachSimdTarget(const Body& body) {
  int count = 0;
  for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    const int64_t target = left & -left;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    body();
    ++count;
  }
  hwy::SetSupportedTargetsForTest(0);
  EXPECT_GT(count, 0);
}

}  // namespace gdn
