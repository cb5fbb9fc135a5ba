// SPDX-License-Identifier: Apache-2.0
// The work of a prefill, cut into value heads of sequences.
#pragma once

#include <cstring>

#include "ops/common/tensor_access.h"
#include "ops/gated_delta_rule/gated_delta_rule_cpu.h"

namespace gdn {

// One value head of one sequence: what a task owns.
struct HeadTask {
  int64_t first_token, last_token;
  int64_t value_head, key_head;
  int64_t slot;
  bool has_initial_state;
};

// [V, K] of the pool.
inline float* HeadState(const GatedDeltaRuleArgs& args, const HeadTask& task) {
  return args.state.As<float>() + task.slot * args.state.stride(0) +
         task.value_head * args.state.stride(1);
}

inline void ZeroRows(const GatedDeltaRuleArgs& args, const HeadTask& task) {
  const auto element = static_cast<int64_t>(SizeOf(args.out.dtype));
  for (int64_t token = task.first_token; token < task.last_token; ++token) {
    std::memset(
        static_cast<char*>(args.out.data) + OffsetOf(args.out, token, task.value_head, 0) * element,
        0, static_cast<size_t>(args.out.dim(2) * element));
  }
}

// Calls run(task, the worker's memory) on the pool; rows of null slots become zeros.
template <class Run>
void ForEachHead(const ExecContext& ctx, const GatedDeltaRuleArgs& args, const Run& run) {
  const int64_t num_key_heads = args.k.dim(1);
  const int64_t num_value_heads = args.v.dim(1);
  const auto num_seqs = static_cast<int64_t>(args.state_slots.size());
  const size_t worker_bytes = WorkerScratchBytes(args.k.dim(2), args.v.dim(2));
  std::byte* memory = ctx.scratch.Take(worker_bytes * static_cast<size_t>(ctx.pool->num_threads()));
  ctx.pool->Run(num_seqs * num_value_heads, [&](int64_t index, int worker) {
    const auto n = static_cast<size_t>(index / num_value_heads);
    HeadTask task{};
    task.first_token = args.cu_seqlens[n];
    task.last_token = args.cu_seqlens[n + 1];
    if (task.first_token == task.last_token) return;
    task.value_head = index % num_value_heads;
    task.key_head = KeyHeadOf(task.value_head, num_key_heads, num_value_heads);
    task.slot = args.state_slots[n];
    task.has_initial_state = args.has_initial_state[n] != 0;
    if (task.slot <= 0) return ZeroRows(args, task);
    run(task, memory + static_cast<size_t>(worker) * worker_bytes);
  });
}

}  // namespace gdn
