// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/moe_combine/moe_combine_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/rows.h"
#include "ops/common/scalar_math.h"
#include "ops/common/simd-inl.h"
#include "ops/moe_combine/moe_combine_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// Elements [i, i + count) of sum_k w_k * y_k, not yet rounded.
template <class T, MoeCombineOrder order>
struct SumExperts {
  using Y = std::conditional_t<order == MoeCombineOrder::kFusedKernel, float, T>;

  const Y* y;            // [top_k, H], rows at y_stride
  int64_t y_stride;      // in elements
  const float* weights;  // [top_k]
  int64_t top_k;

  HWY_INLINE VF operator()(size_t i, size_t count) const {
    VF sum = hn::Zero(DF());
    for (int64_t k = 0; k < top_k; ++k) {
      const VF product =
          hn::Mul(hn::Set(DF(), weights[k]), LoadVecAny(y + k * y_stride + i, count));
      sum = hn::Add(sum, order == MoeCombineOrder::kFusedKernel ? RoundVec<T>(product) : product);
    }
    return sum;
  }
};

template <class T>
T* RowOrNull(const Tensor& tensor, int64_t t) {
  return tensor.empty() ? nullptr : tensor.Row<T>(t);
}

template <class T, MoeCombineOrder order>
void CombineRow(const MoeCombineArgs& args, int64_t t) {
  using Sum = SumExperts<T, order>;
  const Sum sum{args.expert_out.Row<typename Sum::Y>(t), args.expert_out.stride(1),
                args.weights.Row<float>(t), args.expert_out.dim(1)};
  const T* shared = args.shared.empty() ? nullptr : args.shared.Row<T>(t);
  float gate = 0;
  if (shared != nullptr) {
    gate = RoundTo<T>(SigmoidF32(ToF32(*args.shared_gate_logit.Row<T>(t))));
  }
  T* routed = RowOrNull<T>(args.routed, t);
  T* shared_out = RowOrNull<T>(args.shared_out, t);
  T* out = args.out.Row<T>(t);

  const auto step = [&](size_t i, size_t count) HWY_ATTR {
    VF result = RoundVec<T>(sum(i, count));
    if (routed != nullptr) StoreVecAny(result, routed + i, count);
    if (shared != nullptr) {
      const VF gated = RoundVec<T>(hn::Mul(hn::Set(DF(), gate), LoadVecAny(shared + i, count)));
      if (shared_out != nullptr) StoreVecAny(gated, shared_out + i, count);
      result = hn::Add(result, gated);
    }
    StoreVecAny(result, out + i, count);
  };
  ForEachVec(static_cast<size_t>(args.out.dim(1)), step);
}

void CombineRows(const MoeCombineArgs& args, int64_t first, int64_t last) {
  DispatchFloat(args.out.dtype, [&]<class T>(T) HWY_ATTR {
    for (int64_t t = first; t < last; ++t) {
      if (args.order == MoeCombineOrder::kFusedKernel) {
        CombineRow<T, MoeCombineOrder::kFusedKernel>(args, t);
      } else {
        CombineRow<T, MoeCombineOrder::kRoundedExperts>(args, t);
      }
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {

HWY_EXPORT(CombineRows);

void MoeCombineCpu(const ExecContext& ctx, const MoeCombineArgs& args) {
  const int64_t inputs = args.expert_out.dim(1) + 1;
  ParallelRows(ctx, args.out.dim(0), inputs * args.out.dim(1), [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(CombineRows)(args, first, last);
  });
}

}  // namespace gdn
#endif  // HWY_ONCE
