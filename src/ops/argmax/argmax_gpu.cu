// SPDX-License-Identifier: Apache-2.0
// A block a row; see argmax.h. Reads R * n elements, side by side, once.
#include "ops/argmax/argmax_gpu.h"

#include "ops/common/gpu_rows.h"

namespace gdn::GDN_GPU_NAMESPACE {

using Params = gpu::ArgmaxParams;

// Integers in the order of the numbers; the two zeros are one, NaN is below all.
GDN_DEVICE uint32_t OrderOf(float x) {
  const uint32_t bits = BitsOf(x);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return 0;
  if (magnitude == 0) return 0x80000000U;
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000U;
}

constexpr uint32_t kOrderOfMinusInfinity = 0x007FFFFFU;
constexpr uint32_t kNone = 0xFFFFFFFFU;

// Loads of a thread that wait together: one at a time would be a memory's latency each.
constexpr uint32_t kAhead = 8;

struct Best {
  uint32_t order;
  uint32_t index;
};

GDN_DEVICE Best BetterOf(const Best& a, const Best& b) {
  const bool is_b = b.order > a.order || (b.order == a.order && b.index < a.index);
  return is_b ? b : a;
}

GDN_GLOBAL(256)
void Argmax(Params p) {
  SharedMemory memory;
  const SharedArray<uint32_t> orders = memory.Take<uint32_t>(256);
  const SharedArray<uint32_t> indices = memory.Take<uint32_t>(256);
  const uint64_t row = RowOfBlock();
  if (row >= p.num_rows) return;
  const float* x = RowAt<float>(p.x, row);
  const uint32_t self = ThreadIndex();
  const uint32_t n = static_cast<uint32_t>(p.n);
  Best best = {kOrderOfMinusInfinity, kNone};
  for (uint32_t first = self; first < n; first += kAhead * BlockThreads()) {
    float ahead[kAhead];
    GDN_UNROLL for (uint32_t j = 0; j < kAhead; ++j) {
      const uint32_t i = first + j * BlockThreads();
      ahead[j] = i < n ? x[i] : FloatOf(0xFF800000U);
    }
    GDN_UNROLL for (uint32_t j = 0; j < kAhead; ++j) {
      const uint32_t order = OrderOf(ahead[j]);
      if (order > best.order) best = {order, first + j * BlockThreads()};
    }
  }
  orders[self] = best.order;
  indices[self] = best.index;
  Barrier();
  for (uint32_t half = BlockThreads() / 2; half > 0; half /= 2) {
    if (self < half) {
      best = BetterOf(best, {orders[self + half], indices[self + half]});
      orders[self] = best.order;
      indices[self] = best.index;
    }
    Barrier();
  }
  if (self == 0) p.index[row] = static_cast<int32_t>(best.index);
}

GDN_GPU_INSTANCES(argmax) = {GDN_GPU_INSTANCE(Params, Argmax)};

}  // namespace gdn::GDN_GPU_NAMESPACE
