// SPDX-License-Identifier: Apache-2.0
#include "bench/machine_probe.h"

#include <gtest/gtest.h>

namespace gdn {
namespace {

TEST(MachineProbe, MeasuresSomethingPlausible) {
  EXPECT_GE(MachineProbe::DefaultBufferBytes(), size_t{256} << 20);
  ThreadPool pool(2);
  Result<MachineProbe> probe = MachineProbe::Create(pool, size_t{33} << 20);
  ASSERT_TRUE(probe.ok()) << probe.status().message();
  EXPECT_EQ(probe->buffer_bytes(), size_t{33} << 20);
  EXPECT_LT(probe->cold_bytes(), probe->buffer_bytes());
  for (int i = 0; i < 3; ++i) {
    const MachineSpeed speed = probe->Measure();
    EXPECT_GT(speed.peak_gflops, 0);
    EXPECT_GT(speed.read_gbytes, 0);
    // No machine does so much: a sample that was optimised away would.
    EXPECT_LT(speed.peak_gflops, 1e6);
    EXPECT_LT(speed.read_gbytes, 1e5);
  }
}

TEST(MachineProbe, BetterTakesEachQuantityForItself) {
  const MachineSpeed better = Better({10, 3}, {8, 5});
  EXPECT_EQ(better.peak_gflops, 10);
  EXPECT_EQ(better.read_gbytes, 5);
}

}  // namespace
}  // namespace gdn
