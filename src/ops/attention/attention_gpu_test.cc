// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/attention_device_testing.h"
#include "ops/common/testing/gpu_testing.h"

namespace gdn {
namespace {

// A step of decoding is launched as the one before it, so that it is run as a graph: chunks of keys
// count by powers of two.
TEST(AttentionGpu, StepsOfDecodingAreAlike) {
  Paged paged(DType::kBf16, {4, 2, 16}, {1000});
  ExecContext device = TestDevice::Context();
  paged.Store(device);
  ASSERT_TRUE(device.backend->Finish().ok());
  const Result<Storage> scratch = device.backend->memory().Allocate(size_t{1} << 20, "a test");
  ASSERT_TRUE(scratch.ok());
  device.scratch = Scratch({scratch->data(), scratch->size_bytes()});
  TestRows out = paged.NewOut();
  DeviceRows out_device(out);
  const gpu::Stream& stream = gpu::StreamOf(device);
  const int64_t before = stream.num_graph_launches();
  int64_t steps = 0;
  for (const int64_t token : {513, 514, 575, 576, 767, 768, 999}) {
    paged.Attend(device, 0, token, 0, out_device.view().Slice(0, 1));
    ASSERT_TRUE(device.backend->Finish().ok());
    ++steps;
  }
  EXPECT_EQ(stream.num_graph_launches() - before, steps - 1);
}

}  // namespace
}  // namespace gdn
