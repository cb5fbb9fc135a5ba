// SPDX-License-Identifier: Apache-2.0
#include "ops/common/scalar_math.h"
#include "ops/common/tensor_access.h"
#include "ops/moe_combine/moe_combine_kernels.h"

namespace gdn {
namespace {

template <class T>
float Routed(const MoeCombineArgs& args, int64_t t, int64_t i) {
  float sum = 0;
  for (int64_t k = 0; k < args.expert_out.dim(1); ++k) {
    const float product =
        args.weights.Row<float>(t)[k] * LoadAt(args.expert_out, OffsetOf(args.expert_out, t, k, i));
    sum += args.order == MoeCombineOrder::kFusedKernel ? RoundTo<T>(product) : product;
  }
  return RoundTo<T>(sum);
}

template <class T>
void CombineRow(const MoeCombineArgs& args, int64_t t) {
  for (int64_t i = 0; i < args.out.dim(1); ++i) {
    const float routed = Routed<T>(args, t, i);
    float out = routed;
    if (!args.shared.empty()) {
      const float gate = RoundTo<T>(SigmoidF32(ToF32(*args.shared_gate_logit.Row<T>(t))));
      const float shared_out = RoundTo<T>(gate * ToF32(args.shared.Row<T>(t)[i]));
      out = routed + shared_out;
      if (!args.shared_out.empty()) args.shared_out.Row<T>(t)[i] = FromF32<T>(shared_out);
    }
    if (!args.routed.empty()) args.routed.Row<T>(t)[i] = FromF32<T>(routed);
    args.out.Row<T>(t)[i] = FromF32<T>(out);
  }
}

}  // namespace

void MoeCombineRef(const ExecContext& /*ctx*/, const MoeCombineArgs& args) {
  DispatchFloat(args.out.dtype, [&]<class T>(T) {
    for (int64_t t = 0; t < args.out.dim(0); ++t) CombineRow<T>(args, t);
  });
}

}  // namespace gdn
