// SPDX-License-Identifier: Apache-2.0
#include "ops/gated_delta_rule/gated_delta_rule_cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/gated_delta_rule/gated_delta_rule_recurrent_cpu.cc"
#include <hwy/foreach_target.h>

#include "ops/gated_delta_rule/partial_sums-inl.h"

#ifndef GDN_OPS_GATED_DELTA_RULE_RECURRENT_SHARED_
#define GDN_OPS_GATED_DELTA_RULE_RECURRENT_SHARED_
#include <algorithm>
#include <array>

#include "ops/common/scalar_math.h"
#include "ops/common/tensor_access.h"

namespace gdn {

// The part of the work that one task owns: rows [first_row, first_row + num_rows) of the state of
// one value head of one sequence.
struct RecurrentTask {
  int64_t first_token, last_token;
  int64_t value_head, key_head;
  int64_t first_row, num_rows;
  int64_t slot;
  bool has_initial_state;
};

}  // namespace gdn
#endif

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

// S = S * decay + delta k^T of the same rows; returns S q.
HWY_INLINE V4 UpdateRows(float* HWY_RESTRICT s, size_t stride, size_t width,
                         const float* HWY_RESTRICT q, const float* HWY_RESTRICT k, float decay,
                         const float* HWY_RESTRICT delta) {
  const DF d;
  const VF decay_vec = hn::Set(d, decay);
  HWY_ALIGN std::array<float, 4 * kPartialSums> partial;
  const size_t lanes = hn::Lanes(d);
  VF delta_vec[4];
  HWY_UNROLL(4)
  for (size_t r = 0; r < 4; ++r) delta_vec[r] = hn::Set(d, delta[r]);
  // Two vectors of partial sums a row at a time: eight chains, in sixteen registers.
  constexpr size_t kAtOnce = HWY_MIN(size_t{2}, kSumVecs);
  for (size_t first = 0; first < kPartialSums; first += kAtOnce * lanes) {
    VF sum[4][kAtOnce];
    HWY_UNROLL(4)
    for (auto& row : sum) {
      HWY_UNROLL(2)
      for (VF& chain : row) chain = hn::Zero(d);
    }
    for (size_t j = first; j < width; j += kPartialSums) {
      HWY_UNROLL(2)
      for (size_t part = 0; part < kAtOnce; ++part) {
        const size_t at = j + part * lanes;
        const VF key = hn::LoadU(d, k + at);
        const VF query = hn::LoadU(d, q + at);
        HWY_UNROLL(4)
        for (size_t r = 0; r < 4; ++r) {
          float* p = s + r * stride + at;
          const VF next = hn::MulAdd(delta_vec[r], key, hn::Mul(hn::LoadU(d, p), decay_vec));
          hn::StoreU(next, d, p);
          sum[r][part] = hn::MulAdd(query, next, sum[r][part]);
        }
      }
    }
    HWY_UNROLL(4)
    for (size_t r = 0; r < 4; ++r) {
      HWY_UNROLL(2)
      for (size_t part = 0; part < kAtOnce; ++part) {
        hn::StoreU(sum[r][part], d, partial.data() + r * kPartialSums + first + part * lanes);
      }
    }
  }
  return FoldRows(partial.data());
}

template <class QK>
HWY_INLINE void LoadKeyRow(const ConstTensor& tensor, int64_t token, int64_t head, float factor,
                           float* out) {
  const QK* row = tensor.As<QK>() + token * tensor.stride(0) + head * tensor.stride(1);
  const VF factor_vec = hn::Set(DF(), factor);
  ForEachVec(static_cast<size_t>(tensor.dim(2)), [&](size_t i, size_t n) HWY_ATTR {
    StoreVecAny(hn::Mul(LoadVecAny(row + i, n), factor_vec), out + i, n);
  });
}

// All tokens of the task over its rows, s [num_rows rounded up to 4, stride].
template <class T, class QK>
void Tokens(const GatedDeltaRuleArgs& args, const RecurrentTask& task, float* s, size_t stride,
            size_t width, const RecurrentScratch& scratch) {
  const D4 d4;
  for (int64_t token = task.first_token; token < task.last_token; ++token) {
    LoadKeyRow<QK>(args.q, token, task.key_head, args.scale, scratch.q);
    LoadKeyRow<QK>(args.k, token, task.key_head, 1.0F, scratch.k);
    const float decay = ExpF32(args.log_decay.Row<float>(token)[task.value_head]);
    const float beta = args.beta.Row<float>(token)[task.value_head];
    const T* v_row = args.v.As<T>() + token * args.v.stride(0) +
                     task.value_head * args.v.stride(1) + task.first_row;
    T* out_row = args.out.As<T>() + token * args.out.stride(0) +
                 task.value_head * args.out.stride(1) + task.first_row;
    const auto rows = static_cast<size_t>(task.num_rows);
    // v, then delta, then the output of every row.
    HWY_ALIGN std::array<float, kRecurrentRows> values;
    for (size_t i = rows / 4 * 4; i < (rows + 3) / 4 * 4; ++i) values[i] = 0;
    ForEachVec(rows, [&](size_t i, size_t n)
                         HWY_ATTR { StoreVecAny(LoadVecAny(v_row + i, n), values.data() + i, n); });
    // All reads before the first update: a group's sums are folded while the next one's are formed.
    for (size_t row = 0; row < rows; row += 4) {
      const V4 read = ReadRows(s + row * stride, stride, width, scratch.k, decay);
      const V4 v = hn::LoadU(d4, values.data() + row);
      hn::StoreU(hn::Mul(hn::Sub(v, read), hn::Set(d4, beta)), d4, values.data() + row);
    }
    for (size_t row = 0; row < rows; row += 4) {
      hn::StoreU(UpdateRows(s + row * stride, stride, width, scratch.q, scratch.k, decay,
                            values.data() + row),
                 d4, values.data() + row);
    }
    ForEachVec(rows, [&](size_t i, size_t n) HWY_ATTR {
      StoreVecAny(LoadVecAny(values.data() + i, n), out_row + i, n);
    });
  }
}

template <class T, class QK, class S>
void RunTask(const GatedDeltaRuleArgs& args, const RecurrentTask& task, std::byte* memory) {
  const int64_t k_dim = args.k.dim(2);
  ScratchDivider divider(memory);
  const RecurrentScratch scratch(divider, k_dim);
  const auto padded = static_cast<size_t>(PaddedColumns(k_dim));
  std::fill_n(scratch.q, padded, 0.0F);
  std::fill_n(scratch.k, padded, 0.0F);
  const auto width = (static_cast<size_t>(k_dim) + kPartialSums - 1) / kPartialSums * kPartialSums;
  S* pool = args.state.As<S>() + task.slot * args.state.stride(0) +
            task.value_head * args.state.stride(1) + task.first_row * k_dim;
  const int64_t num_elements = task.num_rows * k_dim;
  if constexpr (std::is_same_v<S, float>) {
    if (width == static_cast<size_t>(k_dim) && task.num_rows % 4 == 0) {
      if (!task.has_initial_state) std::fill_n(pool, num_elements, 0.0F);
      Tokens<T, QK>(args, task, pool, width, width, scratch);
      return;
    }
  }
  std::fill_n(scratch.state, static_cast<size_t>(kRecurrentRows) * width, 0.0F);
  const auto columns = static_cast<size_t>(k_dim);
  for (int64_t row = 0; task.has_initial_state && row < task.num_rows; ++row) {
    ForEachVec(columns, [&](size_t i, size_t n) HWY_ATTR {
      StoreVecAny(LoadVecAny(pool + row * k_dim + i, n),
                  scratch.state + static_cast<size_t>(row) * width + i, n);
    });
  }
  Tokens<T, QK>(args, task, scratch.state, width, width, scratch);
  for (int64_t row = 0; row < task.num_rows; ++row) {
    ForEachVec(columns, [&](size_t i, size_t n) HWY_ATTR {
      StoreVecAny(LoadVecAny(scratch.state + static_cast<size_t>(row) * width + i, n),
                  pool + row * k_dim + i, n);
    });
  }
}

void RunRecurrentTask(const GatedDeltaRuleArgs& args, const RecurrentTask& task,
                      std::byte* memory) {
  DispatchFloat(args.v.dtype, [&](auto v) {
    using T = decltype(v);
    const bool f32_qk = args.q.dtype == DType::kF32;
    const bool f32_state = args.state.dtype == DType::kF32;
    if (f32_qk && f32_state) return RunTask<T, float, float>(args, task, memory);
    if (f32_qk) return RunTask<T, float, T>(args, task, memory);
    if (f32_state) return RunTask<T, T, float>(args, task, memory);
    return RunTask<T, T, T>(args, task, memory);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gdn {
namespace {

HWY_EXPORT(RunRecurrentTask);

void ZeroRows(const GatedDeltaRuleArgs& args, const RecurrentTask& task) {
  const size_t row_bytes = static_cast<size_t>(task.num_rows) * SizeOf(args.out.dtype);
  for (int64_t token = task.first_token; token < task.last_token; ++token) {
    const int64_t offset = OffsetOf(args.out, token, task.value_head, task.first_row);
    std::memset(
        static_cast<char*>(args.out.data) + offset * static_cast<int64_t>(SizeOf(args.out.dtype)),
        0, row_bytes);
  }
}

}  // namespace

void RunRecurrentCpu(const ExecContext& ctx, const GatedDeltaRuleArgs& args) {
  const int64_t num_key_heads = args.k.dim(1);
  const int64_t num_value_heads = args.v.dim(1);
  const int64_t v_dim = args.v.dim(2);
  const int64_t slices = (v_dim + kRecurrentRows - 1) / kRecurrentRows;
  const auto num_seqs = static_cast<int64_t>(args.state_slots.size());
  const size_t worker_bytes = WorkerScratchBytes(args.k.dim(2), v_dim);
  std::byte* memory = ctx.scratch.Take(worker_bytes * static_cast<size_t>(ctx.pool->num_threads()));
  ctx.pool->Run(num_seqs * num_value_heads * slices, [&](int64_t index, int worker) {
    const auto n = static_cast<size_t>(index / (num_value_heads * slices));
    RecurrentTask task;
    task.first_token = args.cu_seqlens[n];
    task.last_token = args.cu_seqlens[n + 1];
    if (task.first_token == task.last_token) return;
    task.value_head = index / slices % num_value_heads;
    task.key_head = KeyHeadOf(task.value_head, num_key_heads, num_value_heads);
    task.first_row = index % slices * kRecurrentRows;
    task.num_rows = std::min(kRecurrentRows, v_dim - task.first_row);
    task.slot = args.state_slots[n];
    task.has_initial_state = args.has_initial_state[n] != 0;
    if (task.slot <= 0) {
      ZeroRows(args, task);
    } else {
      HWY_DYNAMIC_DISPATCH(RunRecurrentTask)
      (args, task, memory + static_cast<size_t>(worker) * worker_bytes);
    }
  });
}

}  // namespace gdn
#endif  // HWY_ONCE
