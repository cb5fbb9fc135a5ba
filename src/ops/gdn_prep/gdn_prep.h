// SPDX-License-Identifier: Apache-2.0
// From the convolution's output to the inputs of the gated delta rule.
//
// Per key head: q, k = x / sqrt(sum(x^2) + 1e-6), f32 inside; kPrefill rounds them to D, kDecode
// keeps f32. Per value head: x = a + dt_bias; log_decay = -exp(a_log) * softplus(x); beta =
// sigmoid(b). softplus is x above 20; kPrefill: x > 0 ? x + log(1 + exp(-x)) : log(1 + exp(x)),
// kDecode: log(1 + exp(x)). kDecode may round beta to D (the packed decode kernel of vLLM 0.25);
// else f32. v needs no preparation: it is the last HV * V columns of the convolution's output.
// Source: docs/numerics.md (vLLM fused_post_conv_prep, fused_recurrent_..._packed_decode).
#pragma once

#include "backend/exec_context.h"
#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

enum class GdnForm : uint8_t { kPrefill, kDecode };
enum class DecodeBeta : uint8_t { kRounded, kF32 };

struct GdnPrepArgs {
  ConstTensor q;        // [T, H, K] D: raw query columns of the convolution's output, rows strided
  ConstTensor k;        // [T, H, K] D
  ConstTensor a;        // [T, HV] D
  ConstTensor b;        // [T, HV] D
  ConstTensor a_log;    // [HV] f32
  ConstTensor dt_bias;  // [HV] f32
  GdnForm form = GdnForm::kPrefill;
  DecodeBeta decode_beta = DecodeBeta::kRounded;
  Tensor q_out;      // [T, H, K] contiguous; D for kPrefill, f32 for kDecode
  Tensor k_out;      // like q_out
  Tensor log_decay;  // [T, HV] f32, natural log, <= 0
  Tensor beta;       // [T, HV] f32, after the sigmoid
};

// ctx: pool, on the CPU. Errors: kInvalidArgument for shapes, dtypes and overlaps; outputs alias
// nothing.
Status GdnPrep(const ExecContext& ctx, const GdnPrepArgs& args);

}  // namespace gdn
