// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/sigmoid_mul/sigmoid_mul_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/map_rows-inl.h"
#include "ops/common/rows.h"
#include "ops/sigmoid_mul/sigmoid_mul_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

struct TimesSigmoid {
  HWY_INLINE VF operator()(VF x, VF gate) const { return hn::Mul(x, SigmoidVec(gate)); }
};

template <class T>
void SigmoidRows(const SigmoidMulArgs& args, int64_t first, int64_t last) {
  MapRows<T>(args.x, args.gate, args.out, first, last, TimesSigmoid());
}

void SigmoidMulRows(const SigmoidMulArgs& args, int64_t first, int64_t last) {
  DispatchFloat(args.x.dtype, [&]<class T>(T) HWY_ATTR { SigmoidRows<T>(args, first, last); });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {

HWY_EXPORT(SigmoidMulRows);

void SigmoidMulCpu(const ExecContext& ctx, const SigmoidMulArgs& args) {
  ParallelRows(ctx, args.x.dim(0), args.x.dim(1), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(SigmoidMulRows)(args, first, last);
  });
}

}  // namespace gdn
#endif  // HWY_ONCE
