// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/silu_and_mul/silu_and_mul_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/map_rows-inl.h"
#include "ops/common/rows.h"
#include "ops/silu_and_mul/silu_and_mul_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

template <class T>
struct SiluTimes {
  HWY_INLINE VF operator()(VF gate, VF up) const { return hn::Mul(RoundVec<T>(SiluVec(gate)), up); }
};

template <class T>
void SiluRows(const SiluAndMulArgs& args, int64_t first, int64_t last) {
  MapRows<T>(args.gate, args.up, args.out, first, last, SiluTimes<T>());
}

void SiluAndMulRows(const SiluAndMulArgs& args, int64_t first, int64_t last) {
  DispatchFloat(args.gate.dtype, [&]<class T>(T) HWY_ATTR { SiluRows<T>(args, first, last); });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {

HWY_EXPORT(SiluAndMulRows);

void SiluAndMulCpu(const ExecContext& ctx, const SiluAndMulArgs& args) {
  ParallelRows(ctx, args.gate.dim(0), args.gate.dim(1), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(SiluAndMulRows)(args, first, last);
  });
}

}  // namespace gdn
#endif  // HWY_ONCE
