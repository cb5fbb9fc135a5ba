// SPDX-License-Identifier: Apache-2.0
#include "ops/gdn_prep/gdn_prep_ref.h"

#include <array>
#include <cmath>

#include "ops/common/scalar_math.h"
#include "ops/common/tensor_access.h"

namespace gdn {
namespace {

float Softplus(float x, GdnForm form) {
  if (x > 20.0F) return x;
  if (form == GdnForm::kPrefill && x > 0.0F) return x + LogF32(1.0F + ExpF32(-x));
  return LogF32(1.0F + ExpF32(x));
}

// One row: x / sqrt(sum(x^2) + eps). The sum runs over sixteen partial sums by index mod 16, folded
// in halves, an order that every vector width can keep.
void L2Norm(const ConstTensor& in, const Tensor& out, int64_t token, int64_t head) {
  std::array<float, 16> partial{};
  for (int64_t d = 0; d < in.dim(2); ++d) {
    const float x = LoadAt(in, OffsetOf(in, token, head, d));
    float& sum = partial[static_cast<size_t>(d) % 16];
    sum = std::fma(x, x, sum);
  }
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) partial[i] += partial[i + half];
  }
  const float inverse = 1.0F / std::sqrt(partial[0] + kL2NormEpsilon);
  for (int64_t d = 0; d < in.dim(2); ++d) {
    const float x = LoadAt(in, OffsetOf(in, token, head, d));
    StoreAt(out, OffsetOf(out, token, head, d), x * inverse);
  }
}

}  // namespace

void PrepGates(const GdnPrepArgs& args, int64_t token) {
  const bool round_beta = args.form == GdnForm::kDecode && args.decode_beta == DecodeBeta::kRounded;
  for (int64_t head = 0; head < args.a.dim(1); ++head) {
    const float x =
        LoadAt(args.a, token * args.a.stride(0) + head) + args.dt_bias.As<float>()[head];
    args.log_decay.Row<float>(token)[head] =
        -ExpF32(args.a_log.As<float>()[head]) * Softplus(x, args.form);
    const float beta = SigmoidF32(LoadAt(args.b, token * args.b.stride(0) + head));
    args.beta.Row<float>(token)[head] =
        round_beta ? DispatchFloat(args.b.dtype, [&](auto t) { return RoundTo<decltype(t)>(beta); })
                   : beta;
  }
}

void RunGdnPrepRef(const ExecContext& /*ctx*/, const GdnPrepArgs& args) {
  for (int64_t token = 0; token < args.q.dim(0); ++token) {
    for (int64_t head = 0; head < args.q.dim(1); ++head) {
      L2Norm(args.q, args.q_out, token, head);
      L2Norm(args.k, args.k_out, token, head);
    }
    PrepGates(args, token);
  }
}

}  // namespace gdn
