// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/moe_router_topk/moe_router_topk_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/row_sum.h"
#include "ops/common/rows.h"
#include "ops/common/scalar_math.h"
#include "ops/common/simd-inl.h"
#include "ops/moe_router_topk/moe_router_topk_kernels.h"

#if HWY_ONCE
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#endif

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// A row of all experts, in whole vectors: padded to a multiple of 16.
using ExpertRow = std::array<float, kMoeMaxExperts>;
static_assert(kMoeMaxExperts % kSumLanes == 0 && kSumLanes % hn::MaxLanes(DF()) == 0);

// row = logits, -inf in the padding; returns their largest. Any NaN may be lost or returned: it
// makes the softmax's sum NaN either way.
template <class T>
HWY_INLINE float LoadLogits(const T* logits, size_t num_experts, size_t padded, ExpertRow& row) {
  const DF df;
  std::fill(row.begin() + num_experts, row.begin() + padded, -INFINITY);
  ForEachVec(num_experts, [&](size_t i, size_t count) HWY_ATTR {
    StoreVecAny(LoadVecAny(logits + i, count), row.data() + i, count);
  });
  VF max = hn::Set(df, -INFINITY);
  for (size_t i = 0; i < padded; i += hn::Lanes(df)) max = hn::Max(max, LoadVec(row.data() + i));
  return hn::GetLane(hn::MaxOfLanes(df, max));
}

// The sum in the order of ops/common/row_sum.h.
HWY_INLINE float SumOf(const ExpertRow& row, size_t padded) {
  constexpr size_t kLanes = hn::MaxLanes(DF());
  std::array<float, kSumLanes> partial{};
  for (size_t i = 0; i < padded; i += kSumLanes) {
    for (size_t j = 0; j < kSumLanes; j += kLanes) {
      StoreVec(hn::Add(LoadVec(partial.data() + j), LoadVec(row.data() + i + j)),
               partial.data() + j);
    }
  }
  return AddPartialSums(partial);
}

// The index of the largest element, the first of equals; no element is NaN.
HWY_INLINE size_t ArgMax(const ExpertRow& row, size_t padded) {
  const DF df;
  const hn::RebindToSigned<DF> di;
  const size_t lanes = hn::Lanes(df);
  VF best = LoadVec(row.data());
  auto index = hn::Iota(di, 0);
  auto best_index = index;
  for (size_t i = lanes; i < padded; i += lanes) {
    index = hn::Add(index, hn::Set(di, static_cast<int32_t>(lanes)));
    const VF x = LoadVec(row.data() + i);
    const auto above = hn::Gt(x, best);
    best = hn::IfThenElse(above, x, best);
    best_index = hn::IfThenElse(hn::RebindMask(di, above), index, best_index);
  }
  std::array<float, hn::MaxLanes(df)> values;
  std::array<int32_t, hn::MaxLanes(df)> indices;
  StoreVec(best, values.data());
  hn::StoreU(best_index, di, indices.data());
  size_t lane = 0;
  for (size_t j = 1; j < lanes; ++j) {
    if (values[j] > values[lane] || (values[j] == values[lane] && indices[j] < indices[lane])) {
      lane = j;
    }
  }
  return static_cast<size_t>(indices[lane]);
}

// The padding holds zeros, and is never chosen: an expert that is still free is at least 0, and
// comes first.
HWY_INLINE void TakeLargest(ExpertRow& p, size_t padded, size_t top_k, float* weights,
                            int32_t* ids) {
  for (size_t k = 0; k < top_k; ++k) {
    const size_t e = ArgMax(p, padded);
    ids[k] = static_cast<int32_t>(e);
    weights[k] = p[e];
    p[e] = -1;  // taken
  }
}

template <class T>
void RouteRow(const MoeRouterTopkArgs& args, int64_t t) {
  const DF df;
  const auto num_experts = static_cast<size_t>(args.logits.dim(1));
  const auto top_k = static_cast<size_t>(args.weights.dim(1));
  const size_t padded = (num_experts + kSumLanes - 1) / kSumLanes * kSumLanes;
  float* weights = args.weights.Row<float>(t);
  int32_t* ids = args.ids.Row<int32_t>(t);

  ExpertRow p;
  const float max = LoadLogits(args.logits.Row<T>(t), num_experts, padded, p);
  // To the nearest f32, so that p falls where its logit does and has the same bits everywhere.
  for (size_t e = 0; e < num_experts; ++e) p[e] = ExpF32(p[e] - max);
  std::fill(p.begin() + num_experts, p.begin() + padded, 0.0F);
  const float sum = SumOf(p, padded);
  if (!(sum >= 1)) {  // exp(max - max) is part of it: the softmax is not a number
    for (size_t k = 0; k < top_k; ++k) {
      ids[k] = static_cast<int32_t>(k);
      weights[k] = std::numeric_limits<float>::quiet_NaN();
    }
    return;
  }
  for (size_t i = 0; i < padded; i += hn::Lanes(df)) {
    StoreVec(hn::Div(LoadVec(p.data() + i), hn::Set(df, sum)), p.data() + i);
  }
  TakeLargest(p, padded, top_k, weights, ids);
  if (args.renormalise == MoeRenormalise::kSumToOne) {
    float total = 0;
    for (size_t k = 0; k < top_k; ++k) total += weights[k];
    for (size_t k = 0; k < top_k; ++k) weights[k] /= total;
  }
}

void RouteRows(const MoeRouterTopkArgs& args, int64_t first, int64_t last) {
  DispatchFloat(args.logits.dtype, [&]<class T>(T) HWY_ATTR {
    for (int64_t t = first; t < last; ++t) RouteRow<T>(args, t);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {

HWY_EXPORT(RouteRows);

void MoeRouterTopkCpu(const ExecContext& ctx, const MoeRouterTopkArgs& args) {
  // An expert costs 8 ns, as much as so many elements of moe_combine (AMD EPYC, November 2026).
  constexpr int64_t kExpElements = 32;
  ParallelRows(ctx, args.logits.dim(0), kExpElements * args.logits.dim(1),
               [&](int64_t first, int64_t last) {
                 HWY_DYNAMIC_DISPATCH(RouteRows)(args, first, last);
               });
}

}  // namespace gdn
#endif  // HWY_ONCE
