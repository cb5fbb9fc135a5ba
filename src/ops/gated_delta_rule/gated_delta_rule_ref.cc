// SPDX-License-Identifier: Apache-2.0
#include "ops/gated_delta_rule/gated_delta_rule_ref.h"

#include <array>
#include <cmath>

#include "ops/common/scalar_math.h"
#include "ops/common/tensor_access.h"

namespace gdn {
namespace {

// Sixteen partial sums by index mod 16, folded in halves: an order that vectors of 4, 8 and 16
// lanes can all keep, so that the kernels have these bits.
float Dot(const std::vector<float>& x, const float* y) {
  std::array<float, 16> partial{};
  for (size_t j = 0; j < x.size(); ++j) partial[j % 16] = std::fma(x[j], y[j], partial[j % 16]);
  for (size_t half = 8; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) partial[i] += partial[i + half];
  }
  return partial[0];
}

std::vector<float> LoadRow(const ConstTensor& tensor, int64_t token, int64_t head) {
  std::vector<float> row(static_cast<size_t>(tensor.dim(2)));
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = LoadAt(tensor, OffsetOf(tensor, token, head, static_cast<int64_t>(i)));
  }
  return row;
}

// One token of one value head. s [V, K].
void Step(const GatedDeltaRuleArgs& args, int64_t token, int64_t value_head, float* s) {
  const int64_t key_head = KeyHeadOf(value_head, args.k.dim(1), args.v.dim(1));
  const std::vector<float> k = LoadRow(args.k, token, key_head);
  std::vector<float> q = LoadRow(args.q, token, key_head);
  for (float& x : q) x *= args.scale;
  const std::vector<float> v = LoadRow(args.v, token, value_head);
  const float decay = ExpF32(args.log_decay.Row<float>(token)[value_head]);
  const float beta = args.beta.Row<float>(token)[value_head];
  for (size_t row = 0; row < v.size(); ++row) {
    float* s_row = s + row * k.size();
    for (size_t j = 0; j < k.size(); ++j) s_row[j] *= decay;
    const float delta = (v[row] - Dot(k, s_row)) * beta;
    for (size_t j = 0; j < k.size(); ++j) s_row[j] = std::fma(delta, k[j], s_row[j]);
    StoreAt(args.out, OffsetOf(args.out, token, value_head, static_cast<int64_t>(row)),
            Dot(q, s_row));
  }
}

}  // namespace

void RunRecurrentRef(const ExecContext& /*ctx*/, const GatedDeltaRuleArgs& args) {
  const int64_t num_value_heads = args.v.dim(1);
  const int64_t v_dim = args.v.dim(2);
  const int64_t state_size = v_dim * args.k.dim(2);
  for (size_t n = 0; n < args.state_slots.size(); ++n) {
    const int32_t slot = args.state_slots[n];
    const int32_t first = args.cu_seqlens[n];
    const int32_t last = args.cu_seqlens[n + 1];
    if (first == last) continue;
    for (int64_t head = 0; head < num_value_heads; ++head) {
      if (slot <= 0) {
        for (int64_t i = first * v_dim; i < last * v_dim; ++i) {
          StoreAt(args.out, OffsetOf(args.out, i / v_dim, head, i % v_dim), 0);
        }
        continue;
      }
      const int64_t base = slot * args.state.stride(0) + head * args.state.stride(1);
      std::vector<float> s(static_cast<size_t>(state_size));
      if (args.has_initial_state[n] != 0) {
        for (int64_t i = 0; i < state_size; ++i)
          s[static_cast<size_t>(i)] = LoadAt(args.state, base + i);
      }
      for (int64_t t = first; t < last; ++t) Step(args, t, head, s.data());
      for (int64_t i = 0; i < state_size; ++i)
        StoreAt(args.state, base + i, s[static_cast<size_t>(i)]);
    }
  }
}

namespace {

// One token of one value head in f64. s [V, K], out [V].
void StepF64(const GatedDeltaRuleArgs& args, int64_t token, int64_t value_head, double* s,
             double* out) {
  const int64_t key_head = KeyHeadOf(value_head, args.k.dim(1), args.v.dim(1));
  const std::vector<float> k = LoadRow(args.k, token, key_head);
  const std::vector<float> q = LoadRow(args.q, token, key_head);
  const std::vector<float> v = LoadRow(args.v, token, value_head);
  const double decay = std::exp(double{args.log_decay.Row<float>(token)[value_head]});
  const double beta = args.beta.Row<float>(token)[value_head];
  for (size_t row = 0; row < v.size(); ++row) {
    double* s_row = s + row * k.size();
    double read = 0;
    for (size_t j = 0; j < k.size(); ++j) {
      s_row[j] *= decay;
      read += s_row[j] * k[j];
    }
    const double delta = (v[row] - read) * beta;
    out[row] = 0;
    for (size_t j = 0; j < k.size(); ++j) {
      s_row[j] += delta * k[j];
      out[row] += s_row[j] * q[j] * args.scale;
    }
  }
}

}  // namespace

RecurrenceF64 ComputeRecurrenceF64(const GatedDeltaRuleArgs& args) {
  const int64_t num_value_heads = args.v.dim(1);
  const int64_t v_dim = args.v.dim(2);
  const int64_t state_size = v_dim * args.k.dim(2);
  RecurrenceF64 result;
  result.out.resize(static_cast<size_t>(args.v.shape.NumElements()));
  result.state.resize(static_cast<size_t>(args.state.shape.NumElements()));
  for (int64_t slot = 0; slot < args.state.dim(0); ++slot) {
    for (int64_t i = 0; i < num_value_heads * state_size; ++i) {
      result.state[static_cast<size_t>(slot * num_value_heads * state_size + i)] =
          LoadAt(args.state, slot * args.state.stride(0) + i);
    }
  }
  for (size_t n = 0; n < args.state_slots.size(); ++n) {
    const int32_t slot = args.state_slots[n];
    if (slot <= 0 || args.cu_seqlens[n] == args.cu_seqlens[n + 1]) continue;
    for (int64_t head = 0; head < num_value_heads; ++head) {
      double* s = result.state.data() + (slot * num_value_heads + head) * state_size;
      if (args.has_initial_state[n] == 0) std::fill(s, s + state_size, 0.0);
      for (int64_t t = args.cu_seqlens[n]; t < args.cu_seqlens[n + 1]; ++t) {
        StepF64(args, t, head, s, result.out.data() + (t * num_value_heads + head) * v_dim);
      }
    }
  }
  return result;
}

}  // namespace gdn
