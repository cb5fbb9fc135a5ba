// SPDX-License-Identifier: Apache-2.0
// Inputs for the tests of gdn_prep, a function of their shape.
#pragma once

#include <cmath>
#include <ostream>

#include "base/rng.h"
#include "ops/common/testing/test_tensor.h"
#include "ops/gdn_prep/gdn_prep.h"

namespace gdn {

inline const char* Name(GdnForm form) { return form == GdnForm::kDecode ? "decode" : "prefill"; }
inline void PrintTo(GdnForm form, std::ostream* out) { *out << Name(form); }

struct PrepShape {
  DType dtype = DType::kBf16;
  GdnForm form = GdnForm::kPrefill;
  int64_t tokens = 9;
  int64_t num_key_heads = 2;
  int64_t num_value_heads = 6;
  int64_t k_dim = 128;
};

struct PrepInputs {
  TestTensor rows;  // [T, q | k | v | pad], NaN outside q and k
  TestTensor a, b, a_log, dt_bias, q_out, k_out, log_decay, beta;
  PrepShape shape;
  DecodeBeta decode_beta = DecodeBeta::kRounded;

  explicit PrepInputs(const PrepShape& s) : shape(s) {
    const DType out_dtype = s.form == GdnForm::kDecode ? DType::kF32 : s.dtype;
    const int64_t keys = s.num_key_heads * s.k_dim;
    rows = TestTensor(s.dtype, {s.tokens, 2 * keys + 11});
    rows.Fill(NAN);
    a = b = TestTensor(s.dtype, {s.tokens, s.num_value_heads});
    a_log = dt_bias = TestTensor(DType::kF32, {s.num_value_heads});
    q_out = k_out = TestTensor(out_dtype, {s.tokens, s.num_key_heads, s.k_dim});
    log_decay = beta = TestTensor(DType::kF32, {s.tokens, s.num_value_heads});
    for (TestTensor* out : {&q_out, &k_out, &log_decay, &beta}) out->Fill(NAN);
    Rng rng(5);
    for (int64_t t = 0; t < s.tokens; ++t) {
      for (int64_t i = 0; i < 2 * keys; ++i) rows.Set(t * (2 * keys + 11) + i, rng.NextNormal());
    }
    // From far below softplus's knee to beyond 20, where it becomes x.
    for (int64_t i = 0; i < a.size(); ++i) a.Set(i, -30 + 60 * rng.NextUniform());
    for (int64_t i = 0; i < b.size(); ++i) b.Set(i, 3 * rng.NextNormal());
    for (int64_t i = 0; i < a_log.size(); ++i) a_log.Set(i, rng.NextNormal());
    for (int64_t i = 0; i < dt_bias.size(); ++i) dt_bias.Set(i, rng.NextNormal());
  }

  GdnPrepArgs Args() {
    const int64_t keys = shape.num_key_heads * shape.k_dim;
    GdnPrepArgs args;
    const ConstTensor all = rows.view();
    args.q = all.Columns(0, keys).SplitLast(shape.num_key_heads, shape.k_dim);
    args.k = all.Columns(keys, keys).SplitLast(shape.num_key_heads, shape.k_dim);
    args.a = a.view();
    args.b = b.view();
    args.a_log = a_log.view();
    args.dt_bias = dt_bias.view();
    args.form = shape.form;
    args.decode_beta = decode_beta;
    args.q_out = q_out.view();
    args.k_out = k_out.view();
    args.log_decay = log_decay.view();
    args.beta = beta.view();
    return args;
  }
};

}  // namespace gdn
