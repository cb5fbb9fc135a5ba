// SPDX-License-Identifier: Apache-2.0
#include "ops/gdn_prep/gdn_prep_ref.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gdn_prep/gdn_prep_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/common/simd-inl.h"

#ifndef GDN_OPS_GDN_PREP_SHARED_
#define GDN_OPS_GDN_PREP_SHARED_
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/common/tensor_access.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// Rows of one token, all heads. The order of the sum is that of the scalar reference.
template <class In, class Out>
void L2NormRows(const ConstTensor& in, const Tensor& out, int64_t token) {
  constexpr size_t kPartialSums = 16;
  const DF d;
  const auto width = static_cast<size_t>(in.dim(2));
  for (int64_t head = 0; head < in.dim(1); ++head) {
    const In* x = in.As<In>() + OffsetOf(in, token, head, 0);
    Out* y = out.As<Out>() + OffsetOf(out, token, head, 0);
    HWY_ALIGN std::array<float, kPartialSums> partial;
    for (size_t part = 0; part < kPartialSums; part += hn::Lanes(d)) {
      VF sum = hn::Zero(d);
      for (size_t i = part; i < width; i += kPartialSums) {
        const VF value = LoadVecAny(x + i, std::min(hn::Lanes(d), width - i));
        sum = hn::MulAdd(value, value, sum);
      }
      hn::StoreU(sum, d, partial.data() + part);
    }
    for (size_t half = kPartialSums / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) partial[i] += partial[i + half];
    }
    const VF inverse = hn::Set(d, 1.0F / std::sqrt(partial[0] + kL2NormEpsilon));
    ForEachVec(width, [&](size_t i, size_t n) HWY_ATTR {
      StoreVecAny(hn::Mul(LoadVecAny(x + i, n), inverse), y + i, n);
    });
  }
}

void PrepKeys(const GdnPrepArgs& args, int64_t token) {
  DispatchFloat(args.q.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (args.form == GdnForm::kPrefill) {
      L2NormRows<T, T>(args.q, args.q_out, token);
      L2NormRows<T, T>(args.k, args.k_out, token);
    } else {
      L2NormRows<T, float>(args.q, args.q_out, token);
      L2NormRows<T, float>(args.k, args.k_out, token);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {
namespace {

HWY_EXPORT(PrepKeys);

// A task is long enough to hide its own cost, and a prompt has many.
constexpr int64_t kTokensPerTask = 8;

}  // namespace

void RunGdnPrepCpu(const ExecContext& ctx, const GdnPrepArgs& args) {
  const int64_t num_tokens = args.q.dim(0);
  const int64_t num_tasks = (num_tokens + kTokensPerTask - 1) / kTokensPerTask;
  ctx.pool->Run(num_tasks, [&](int64_t task, int /*worker*/) {
    const int64_t last = std::min(num_tokens, (task + 1) * kTokensPerTask);
    for (int64_t token = task * kTokensPerTask; token < last; ++token) {
      HWY_DYNAMIC_DISPATCH(PrepKeys)(args, token);
      PrepGates(args, token);
    }
  });
}

}  // namespace gdn
#endif  // HWY_ONCE
