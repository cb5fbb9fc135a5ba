// SPDX-License-Identifier: Apache-2.0
// Golden cases of the stages of the chunk form. A [T, HV, 64] and a_inverse hold in row t the
// columns of t's chunk; h [chunks, HV, V, K] has a chunk's first state at its place in the batch.
#include <algorithm>
#include <array>
#include <utility>

#include "base/str.h"
#include "parity/golden_ops.h"
#include "parity/stage_case.h"

namespace gdn {
namespace {

Result<Outputs> Cumsum(const StageCase& c) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor log_decay, c.NeedScalars("g"));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(DType::kF32, log_decay.shape));
  c.ForEachChunkAndHead([&](const Chunk& chunk, int64_t head) {
    const std::vector<float> sums =
        ChunkLocalCumsum(ScalarsOf(log_decay, chunk, head), c.NumericsFor(DType::kF32));
    for (size_t i = 0; i < sums.size(); ++i) {
      out.view.Row<float>(chunk.first + static_cast<int64_t>(i))[head] = sums[i];
    }
  });
  Outputs outputs;
  AddOutput(outputs, "cum_log_decay", std::move(out));
  return outputs;
}

Result<Outputs> ScaledDotKkt(const StageCase& c) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor k, c.NeedKeys("k"));
  GDN_ASSIGN_OR_RETURN(const ConstTensor beta, c.NeedScalars("beta"));
  GDN_ASSIGN_OR_RETURN(const ConstTensor cum, c.NeedScalars("cum_log_decay"));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out,
                       NewTensor(DType::kF32, {c.num_tokens(), c.num_value_heads(), kChunkSize}));
  c.ForEachChunkAndHead([&](const Chunk& chunk, int64_t head) {
    PutRows(out.view, chunk, head,
            ChunkScaledDotKkt(RowsOf(k, chunk, c.KeyHead(head), c.k_dim()),
                              ScalarsOf(beta, chunk, head), ScalarsOf(cum, chunk, head),
                              c.NumericsFor(k.dtype)));
  });
  Outputs outputs;
  AddOutput(outputs, "A", std::move(out));
  return outputs;
}

Result<Outputs> Solve(const StageCase& c) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor a, c.NeedRows("A", kChunkSize));
  GDN_ASSIGN_OR_RETURN(const ConstTensor want, c.NeedRows("a_inverse", kChunkSize));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(want.dtype, want.shape));
  c.ForEachChunkAndHead([&](const Chunk& chunk, int64_t head) {
    PutRows(out.view, chunk, head,
            SolveTril(RowsOf(a, chunk, head, chunk.last - chunk.first), c.NumericsFor(want.dtype)));
  });
  Outputs outputs;
  AddOutput(outputs, "a_inverse", std::move(out));
  return outputs;
}

Result<Outputs> WAndU(const StageCase& c) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor k, c.NeedKeys("k"));
  GDN_ASSIGN_OR_RETURN(const ConstTensor v, c.NeedRows("v", c.v_dim()));
  GDN_ASSIGN_OR_RETURN(const ConstTensor beta, c.NeedScalars("beta"));
  GDN_ASSIGN_OR_RETURN(const ConstTensor cum, c.NeedScalars("cum_log_decay"));
  GDN_ASSIGN_OR_RETURN(const ConstTensor a_inverse, c.NeedRows("a_inverse", kChunkSize));
  GDN_ASSIGN_OR_RETURN(OwnedTensor w,
                       NewTensor(v.dtype, {c.num_tokens(), c.num_value_heads(), c.k_dim()}));
  GDN_ASSIGN_OR_RETURN(OwnedTensor u, NewTensor(v.dtype, v.shape));
  c.ForEachChunkAndHead([&](const Chunk& chunk, int64_t head) {
    const ChunkWU wu = RecomputeWU(
        RowsOf(k, chunk, c.KeyHead(head), c.k_dim()), RowsOf(v, chunk, head, c.v_dim()),
        ScalarsOf(beta, chunk, head), ScalarsOf(cum, chunk, head),
        RowsOf(a_inverse, chunk, head, chunk.last - chunk.first), c.NumericsFor(v.dtype));
    PutRows(w.view, chunk, head, wu.w);
    PutRows(u.view, chunk, head, wu.u);
  });
  Outputs outputs;
  AddOutput(outputs, "w", std::move(w));
  AddOutput(outputs, "u", std::move(u));
  return outputs;
}

Result<Outputs> StatePass(const StageCase& c) {
  const int64_t hv = c.num_value_heads();
  const Shape head_state{1, hv, c.v_dim(), c.k_dim()};
  GDN_ASSIGN_OR_RETURN(const ConstTensor k, c.NeedKeys("k"));
  GDN_ASSIGN_OR_RETURN(const ConstTensor w, c.NeedRows("w", c.k_dim()));
  GDN_ASSIGN_OR_RETURN(const ConstTensor u, c.NeedRows("u", c.v_dim()));
  GDN_ASSIGN_OR_RETURN(const ConstTensor cum, c.NeedScalars("cum_log_decay"));
  GDN_ASSIGN_OR_RETURN(const std::vector<int32_t> cu_seqlens, c.golden().Ints("query_start_loc"));
  const size_t num_seqs = cu_seqlens.size() - 1;
  GDN_ASSIGN_OR_RETURN(const std::vector<uint8_t> initial, WithInitialState(c.golden(), num_seqs));
  const Shape states{static_cast<int64_t>(num_seqs), hv, c.v_dim(), c.k_dim()};
  OwnedTensor state_out;
  if (c.golden().Has("state_in")) {
    GDN_ASSIGN_OR_RETURN(const ConstTensor state_in, c.Need("state_in", states));
    GDN_ASSIGN_OR_RETURN(state_out, ToF32(state_in));
  } else {
    GDN_ASSIGN_OR_RETURN(state_out, NewTensor(DType::kF32, states));
  }
  GDN_ASSIGN_OR_RETURN(OwnedTensor h, NewTensor(u.dtype, {static_cast<int64_t>(c.chunks().size()),
                                                          hv, c.v_dim(), c.k_dim()}));
  GDN_ASSIGN_OR_RETURN(OwnedTensor v_new, NewTensor(u.dtype, u.shape));
  for (size_t n = 0; n < num_seqs; ++n) {
    for (int64_t head = 0; head < hv && initial[n] == 0; ++head) {
      PutState(state_out.view, static_cast<int64_t>(n), head, Matrix(c.v_dim(), c.k_dim()));
    }
  }
  c.ForEachChunkAndHead([&](const Chunk& chunk, int64_t head) {
    const auto n = static_cast<int64_t>(chunk.sequence);
    Matrix state = StateOf(state_out.view, n, head);
    const ChunkH pass =
        ChunkFwdH(RowsOf(k, chunk, c.KeyHead(head), c.k_dim()), RowsOf(w, chunk, head, c.k_dim()),
                  RowsOf(u, chunk, head, c.v_dim()), ScalarsOf(cum, chunk, head), state,
                  c.NumericsFor(u.dtype));
    PutState(h.view, chunk.index, head, pass.h);
    PutRows(v_new.view, chunk, head, pass.v_new);
    PutState(state_out.view, n, head, state);
  });
  Outputs outputs;
  AddOutput(outputs, "h", std::move(h));
  AddOutput(outputs, "v_new", std::move(v_new));
  AddOutput(outputs, "state_out", std::move(state_out));
  return outputs;
}

Result<Outputs> OutputStage(const StageCase& c) {
  GDN_ASSIGN_OR_RETURN(const ConstTensor q, c.NeedKeys("q"));
  GDN_ASSIGN_OR_RETURN(const ConstTensor k, c.NeedKeys("k"));
  GDN_ASSIGN_OR_RETURN(const ConstTensor v_new, c.NeedRows("v_new", c.v_dim()));
  GDN_ASSIGN_OR_RETURN(const ConstTensor cum, c.NeedScalars("cum_log_decay"));
  GDN_ASSIGN_OR_RETURN(const ConstTensor h,
                       c.Need("h", {static_cast<int64_t>(c.chunks().size()), c.num_value_heads(),
                                    c.v_dim(), c.k_dim()}));
  GDN_ASSIGN_OR_RETURN(const double scale, c.golden().NumberArg("scale"));
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, NewTensor(v_new.dtype, v_new.shape));
  c.ForEachChunkAndHead([&](const Chunk& chunk, int64_t head) {
    PutRows(out.view, chunk, head,
            ChunkFwdO(RowsOf(q, chunk, c.KeyHead(head), c.k_dim()),
                      RowsOf(k, chunk, c.KeyHead(head), c.k_dim()),
                      RowsOf(v_new, chunk, head, c.v_dim()), StateOf(h, chunk.index, head),
                      ScalarsOf(cum, chunk, head), static_cast<float>(scale),
                      c.NumericsFor(v_new.dtype)));
  });
  Outputs outputs;
  AddOutput(outputs, "out", std::move(out));
  return outputs;
}

struct Stage {
  const char* name;
  const char* marker;  // among a prefill's outputs: the stage is asked for
  Result<Outputs> (*run)(const StageCase& c);
};
constexpr std::array<Stage, 6> kStages = {{{"chunk_local_cumsum", "cum_log_decay", Cumsum},
                                           {"chunk_scaled_dot_kkt", "A", ScaledDotKkt},
                                           {"solve_tril", "a_inverse", Solve},
                                           {"recompute_w_u", "w", WAndU},
                                           {"chunk_fwd_h", "h", StatePass},
                                           {"chunk_fwd_o", "v_new", OutputStage}}};

}  // namespace

bool IsStage(const std::string& op) {
  return std::ranges::any_of(kStages, [&](const Stage& stage) { return op == stage.name; });
}

std::vector<std::string> StageNames() {
  std::vector<std::string> out;
  for (const Stage& stage : kStages) out.emplace_back(stage.name);
  return out;
}

Result<Outputs> RunStage(const GoldenCase& golden, const std::string& name,
                         const Ablation& ablation) {
  GDN_ASSIGN_OR_RETURN(const StageCase c, StageCase::Create(golden, ablation));
  for (const Stage& stage : kStages) {
    if (name == stage.name) return stage.run(c);
  }
  return golden.Error(StrCat(Quoted(name), " is no stage of the chunk form"));
}

Result<Outputs> RunStagesOfPrefill(const GoldenCase& golden, const Ablation& ablation) {
  Outputs outputs;
  for (const Stage& stage : kStages) {
    if (!golden.IsOutput(stage.marker)) continue;
    GDN_ASSIGN_OR_RETURN(Outputs rows, RunStage(golden, stage.name, ablation));
    for (Output& row : rows) {
      if (row.golden == "out" || row.golden == "state_out") row.name = stage.name;
      outputs.push_back(std::move(row));
    }
  }
  return outputs;
}

}  // namespace gdn
