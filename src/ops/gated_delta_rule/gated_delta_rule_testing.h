// SPDX-License-Identifier: Apache-2.0
// Inputs for the tests of the gated delta rule: they own their memory, are a pure function of a
// seed, and hold NaN wherever an op must not look or must write.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "ops/common/testing/test_tensor.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"
#include "ops/gated_delta_rule/gated_delta_rule_ref.h"

namespace gdn {

struct GdrShape {
  DType dtype = DType::kBf16;
  std::vector<int64_t> lengths;
  int64_t num_key_heads = 1;
  int64_t num_value_heads = 1;
  int64_t k_dim = 128;
  int64_t v_dim = 128;
  DType state_dtype = DType::kF32;
  DType qk_dtype = DType::kBf16;  // of the recurrent form; the chunk form takes dtype

  std::string Name() const {
    std::string name = std::string(gdn::Name(dtype)) + "_L";
    for (const int64_t length : lengths) name += std::to_string(length) + "_";
    return name + "H" + std::to_string(num_key_heads) + "_HV" + std::to_string(num_value_heads) +
           "_K" + std::to_string(k_dim) + "_V" + std::to_string(v_dim);
  }
  friend void PrintTo(const GdrShape& shape, std::ostream* out) { *out << shape.Name(); }
};

// Log decays uniform in [low, high].
struct DecayRange {
  double low = -0.69;
  double high = -0.31;
};

inline GdrShape With(DType dtype, std::vector<int64_t> lengths, int64_t num_key_heads,
                     int64_t num_value_heads, int64_t k_dim, int64_t v_dim) {
  GdrShape shape;
  shape.dtype = shape.qk_dtype = dtype;
  shape.lengths = std::move(lengths);
  shape.num_key_heads = num_key_heads;
  shape.num_value_heads = num_value_heads;
  shape.k_dim = k_dim;
  shape.v_dim = v_dim;
  return shape;
}

struct GdrInputs {
  TestTensor q, k, v, log_decay, beta, state, out;
  std::vector<int32_t> cu_seqlens, state_slots;
  std::vector<uint8_t> has_initial_state;
  float scale = 0;

  explicit GdrInputs(const GdrShape& shape, uint64_t seed = 1, DecayRange decay = {}) {
    cu_seqlens = {0};
    for (const int64_t length : shape.lengths) {
      cu_seqlens.push_back(cu_seqlens.back() + static_cast<int32_t>(length));
    }
    const int64_t t = cu_seqlens.back();
    const auto n = static_cast<int32_t>(shape.lengths.size());
    const int64_t hv = shape.num_value_heads;
    q = TestTensor(shape.qk_dtype, {t, shape.num_key_heads, shape.k_dim});
    k = TestTensor(shape.qk_dtype, {t, shape.num_key_heads, shape.k_dim});
    v = TestTensor(shape.dtype, {t, hv, shape.v_dim});
    log_decay = TestTensor(DType::kF32, {t, hv});
    beta = TestTensor(DType::kF32, {t, hv});
    state = TestTensor(shape.state_dtype, {n + 2, hv, shape.v_dim, shape.k_dim});
    out = TestTensor(shape.dtype, {t, hv, shape.v_dim});
    out.Fill(std::numeric_limits<double>::quiet_NaN());
    state.Fill(std::numeric_limits<double>::quiet_NaN());
    scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape.k_dim)));

    Rng rng(seed);
    FillUnitRows(q, shape.k_dim, rng);
    FillUnitRows(k, shape.k_dim, rng);
    for (int64_t i = 0; i < v.size(); ++i) v.Set(i, rng.NextNormal());
    for (int64_t i = 0; i < beta.size(); ++i) {
      beta.Set(i, 1 / (1 + std::exp(-rng.NextNormal())));
      log_decay.Set(i, decay.low + (decay.high - decay.low) * rng.NextUniform());
    }
    const int64_t slot_size = state.size() / (n + 2);
    for (int32_t i = 0; i < n; ++i) {  // slots in falling order, so that slot != sequence
      state_slots.push_back(n + 1 - i);
      has_initial_state.push_back(i % 2 == 0 ? 1 : 0);
      if (i % 2 != 0) continue;
      for (int64_t e = 0; e < slot_size; ++e) {
        state.Set((n + 1 - i) * slot_size + e, 0.1 * rng.NextNormal());
      }
    }
  }

  GatedDeltaRuleArgs Args() {
    GatedDeltaRuleArgs args;
    args.q = q.view();
    args.k = k.view();
    args.v = v.view();
    args.log_decay = log_decay.view();
    args.beta = beta.view();
    args.state = state.view();
    args.cu_seqlens = cu_seqlens;
    args.state_slots = state_slots;
    args.has_initial_state = has_initial_state;
    args.scale = scale;
    args.out = out.view();
    return args;
  }

 private:
  static void FillUnitRows(TestTensor& rows, int64_t dim, Rng& rng) {
    std::vector<double> row(static_cast<size_t>(dim));
    for (int64_t first = 0; first < rows.size(); first += dim) {
      double sum = 0;
      for (double& x : row) {
        x = rng.NextNormal();
        sum += x * x;
      }
      for (int64_t i = 0; i < dim; ++i) {
        rows.Set(first + i, row[static_cast<size_t>(i)] / std::sqrt(sum + 1e-6));
      }
    }
  }
};

// A context with a pool and the scratch that args need.
class GdrContext {
 public:
  explicit GdrContext(const GatedDeltaRuleArgs& args, std::string_view impl = {},
                      int num_threads = 1)
      : pool_(num_threads),
        scratch_(GatedDeltaRuleScratchBytes(args.q.dim(2), args.v.dim(2), num_threads) + 64) {
    // Garbage in scratch must not reach a result.
    std::memset(scratch_.data(), 0xFF, scratch_.size());
    const size_t offset = (64 - reinterpret_cast<uintptr_t>(scratch_.data()) % 64) % 64;
    ctx_.pool = &pool_;
    ctx_.scratch = Scratch(std::span(scratch_).subspan(offset));
    ctx_.impl = impl;
  }
  const ExecContext& ctx() const { return ctx_; }

 private:
  ThreadPool pool_;
  std::vector<std::byte> scratch_;
  ExecContext ctx_;
};

enum class GdrForm { kRecurrent, kBlocked, kChunk };
inline const char* Name(GdrForm form) {
  return form == GdrForm::kChunk ? "chunk" : form == GdrForm::kBlocked ? "blocked" : "recurrent";
}
inline Status RunForm(GdrForm form, const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  return form == GdrForm::kChunk     ? GatedDeltaRuleChunk(ctx, args)
         : form == GdrForm::kBlocked ? GatedDeltaRuleBlocked(ctx, args)
                                     : GatedDeltaRuleRecurrent(ctx, args);
}
inline void PrintTo(GdrForm form, std::ostream* out) { *out << Name(form); }

// Runs one form on inputs, in place.
inline void RunGdr(GdrForm form, GdrInputs& inputs, std::string_view impl, int num_threads = 1) {
  const GatedDeltaRuleArgs args = inputs.Args();
  const GdrContext context(args, impl, num_threads);
  const Status status = RunForm(form, context.ctx(), args);
  ASSERT_TRUE(status.ok()) << status.message();
}

// Distance to what the recurrence in f64 makes of the inputs before the run.
struct DistanceToF64 {
  double out_nmse = 0;
  double state_nmse = 0;  // of the slots in use
  double out_max = 0;
  bool finite = true;
};

inline DistanceToF64 CompareToF64(const GdrInputs& before, const GdrInputs& after) {
  GdrInputs inputs = before;
  const RecurrenceF64 want = ComputeRecurrenceF64(inputs.Args());
  DistanceToF64 d;
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < want.out.size(); ++i) {
    const double got = after.out.Get(static_cast<int64_t>(i));
    d.finite = d.finite && std::isfinite(got);
    d.out_max = std::max(d.out_max, std::abs(got - want.out[i]));
    error += (got - want.out[i]) * (got - want.out[i]);
    norm += want.out[i] * want.out[i];
  }
  d.out_nmse = error == 0 ? 0 : error / norm;
  error = norm = 0;
  const auto slot_size = static_cast<size_t>(after.state.size()) / (before.state_slots.size() + 2);
  for (const int32_t slot : before.state_slots) {
    for (size_t e = 0; slot > 0 && e < slot_size; ++e) {
      const size_t i = static_cast<size_t>(slot) * slot_size + e;
      const double got = after.state.Get(static_cast<int64_t>(i));
      d.finite = d.finite && std::isfinite(got);
      error += (got - want.state[i]) * (got - want.state[i]);
      norm += want.state[i] * want.state[i];
    }
  }
  d.state_nmse = error == 0 ? 0 : error / norm;
  return d;
}

}  // namespace gdn
