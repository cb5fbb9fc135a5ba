// SPDX-License-Identifier: Apache-2.0
// Inputs for the tests of causal_conv1d, a function of their shape, and the distance allowed
// between two kernels.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"
#include "ops/causal_conv1d/causal_conv1d.h"
#include "ops/common/testing/test_tensor.h"

namespace gdn {

struct ConvShape {
  DType dtype = DType::kBf16;
  std::vector<int64_t> lengths;
  int64_t channels = 512;
  int64_t taps = 4;
};

struct ConvInputs {
  TestTensor x, weight, state, out;
  std::vector<int32_t> cu_seqlens, state_slots;
  std::vector<uint8_t> has_initial_state;
  ConvProduct product = ConvProduct::kRounded;

  explicit ConvInputs(const ConvShape& shape) {
    const auto n = static_cast<int32_t>(shape.lengths.size());
    cu_seqlens = {0};
    for (const int64_t length : shape.lengths) {
      cu_seqlens.push_back(cu_seqlens.back() + static_cast<int32_t>(length));
    }
    x = TestTensor(shape.dtype, {cu_seqlens.back(), shape.channels});
    weight = TestTensor(shape.dtype, {shape.channels, shape.taps});
    state = TestTensor(shape.dtype, {n + 2, shape.taps - 1, shape.channels});
    out = TestTensor(shape.dtype, {cu_seqlens.back(), shape.channels});
    out.Fill(NAN);
    state.Fill(NAN);
    Rng rng(3);
    for (int64_t i = 0; i < x.size(); ++i) x.Set(i, rng.NextNormal());
    for (int64_t i = 0; i < weight.size(); ++i) weight.Set(i, rng.NextNormal());
    const int64_t slot_size = (shape.taps - 1) * shape.channels;
    for (int32_t i = 0; i < n; ++i) {  // slots in falling order; every other one is fresh, NaN
      state_slots.push_back(n + 1 - i);
      has_initial_state.push_back(i % 2 == 0 ? 1 : 0);
      for (int64_t e = 0; i % 2 == 0 && e < slot_size; ++e) {
        state.Set((n + 1 - i) * slot_size + e, rng.NextNormal());
      }
    }
  }

  CausalConv1dArgs Args() {
    CausalConv1dArgs args;
    args.x = x.view();
    args.weight = weight.view();
    args.state = state.view();
    args.cu_seqlens = cu_seqlens;
    args.state_slots = state_slots;
    args.has_initial_state = has_initial_state;
    args.product = product;
    args.out = out.view();
    return args;
  }
};

// Exp and division of silu are within two f32 ulps: rarely a 16-bit output moves, by one ulp.
inline void ExpectSame(const ConvInputs& got, const ConvInputs& want, DType dtype) {
  const Distance out = DistanceOf(got.out, want.out);
  if (dtype == DType::kF32) {
    EXPECT_LE(out.nmse, 1e-13);
  } else {
    EXPECT_LE(out.differ, 1 + out.count / 1000);
    EXPECT_LE(out.nmse, 1e-7);
  }
  EXPECT_EQ(got.state, want.state);
}

}  // namespace gdn
