// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ops/common/row_sum.h"
#include "ops/common/scalar_math.h"
#include "ops/moe_router_topk/moe_router_topk_kernels.h"

namespace gdn {
namespace {

template <class T>
void RouteRow(const MoeRouterTopkArgs& args, int64_t t) {
  const auto num_experts = static_cast<size_t>(args.logits.dim(1));
  const auto top_k = static_cast<size_t>(args.weights.dim(1));
  const T* logits = args.logits.Row<T>(t);
  float* weights = args.weights.Row<float>(t);
  int32_t* ids = args.ids.Row<int32_t>(t);

  float max = -INFINITY;
  for (size_t e = 0; e < num_experts; ++e) max = std::max(max, ToF32(logits[e]));
  std::array<float, kMoeMaxExperts> p;
  std::array<float, kSumLanes> partial{};
  for (size_t e = 0; e < num_experts; ++e) {
    p[e] = ExpF32(ToF32(logits[e]) - max);
    partial[e % kSumLanes] += p[e];
  }
  const float sum = AddPartialSums(partial);
  const bool is_number = sum >= 1;  // exp(max - max) is part of it
  for (size_t e = 0; e < num_experts; ++e) p[e] = is_number ? p[e] / sum : 0;

  float total = 0;
  for (size_t k = 0; k < top_k; ++k) {
    float* best = std::max_element(p.data(), p.data() + num_experts);  // the first of equals
    ids[k] = static_cast<int32_t>(best - p.data());
    weights[k] = is_number ? *best : std::numeric_limits<float>::quiet_NaN();
    total += weights[k];
    *best = -1;  // taken
  }
  if (args.renormalise == MoeRenormalise::kSumToOne && is_number) {
    for (size_t k = 0; k < top_k; ++k) weights[k] /= total;
  }
}

}  // namespace

void MoeRouterTopkRef(const ExecContext& /*ctx*/, const MoeRouterTopkArgs& args) {
  DispatchFloat(args.logits.dtype, [&]<class T>(T) {
    for (int64_t t = 0; t < args.logits.dim(0); ++t) RouteRow<T>(args, t);
  });
}

}  // namespace gdn
