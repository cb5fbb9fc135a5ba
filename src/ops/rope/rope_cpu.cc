// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/rope/rope_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/rows.h"
#include "ops/common/simd-inl.h"
#include "ops/rope/rope_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

template <class T>
void RotateHead(const float* cos, const float* sin, size_t h, T* lo, T* hi) {
  const auto step = [&](size_t i, size_t count) HWY_ATTR {
    const VF c = LoadVecAny(cos + i, count);
    const VF s = LoadVecAny(sin + i, count);
    const VF x = LoadVecAny(lo + i, count);
    const VF y = LoadVecAny(hi + i, count);
    StoreVecAny(hn::Sub(hn::Mul(x, c), hn::Mul(y, s)), lo + i, count);
    StoreVecAny(hn::Add(hn::Mul(y, c), hn::Mul(x, s)), hi + i, count);
  };
  ForEachVec(h, step);
}

void RopeTokens(const RopeArgs& args, int64_t first, int64_t last) {
  const int64_t h = args.table.dim(1) / 2;
  DispatchFloat(args.x.dtype, [&]<class T>(T) HWY_ATTR {
    for (int64_t t = first; t < last; ++t) {
      const float* cos = args.table.Row<float>(args.positions[static_cast<size_t>(t)]);
      for (int64_t head = 0; head < args.x.dim(1); ++head) {
        T* x = args.x.Row<T>(t) + head * args.x.stride(1);
        RotateHead(cos, cos + h, static_cast<size_t>(h), x, x + h);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {

HWY_EXPORT(RopeTokens);

void RopeCpu(const ExecContext& ctx, const RopeArgs& args) {
  ParallelRows(ctx, args.x.dim(0), args.x.dim(1) * args.table.dim(1),
               [&](int64_t first, int64_t last) {
                 HWY_DYNAMIC_DISPATCH(RopeTokens)(args, first, last);
               });
}

}  // namespace gdn
#endif  // HWY_ONCE
