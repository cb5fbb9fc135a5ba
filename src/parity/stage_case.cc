// SPDX-License-Identifier: Apache-2.0
#include "parity/stage_case.h"

#include <algorithm>
#include <utility>

#include "base/str.h"
#include "ops/common/tensor_access.h"
#include "parity/golden_ops.h"

namespace gdn {
namespace {

Result<std::vector<Chunk>> ChunksOf(const GoldenCase& golden, int64_t num_tokens) {
  GDN_ASSIGN_OR_RETURN(const std::vector<int32_t> cu_seqlens, golden.Ints("query_start_loc"));
  const bool ascend = std::ranges::is_sorted(cu_seqlens);
  if (cu_seqlens.empty() || !ascend || cu_seqlens.front() != 0 || cu_seqlens.back() != num_tokens) {
    return golden.Error(
        StrCat("query_start_loc does not ascend from 0 to the ", num_tokens, " tokens"));
  }
  std::vector<Chunk> out;
  for (size_t n = 0; n + 1 < cu_seqlens.size(); ++n) {
    for (int64_t first = cu_seqlens[n]; first < cu_seqlens[n + 1]; first += kChunkSize) {
      out.push_back({n, first, std::min<int64_t>(first + kChunkSize, cu_seqlens[n + 1]),
                     static_cast<int64_t>(out.size())});
    }
  }
  return out;
}

}  // namespace

Result<StageCase> StageCase::Create(const GoldenCase& golden, const Ablation& ablation) {
  StageCase out(golden);
  GDN_RETURN_IF_ERROR(out.ReadDims());
  GDN_ASSIGN_OR_RETURN(out.chunks_, ChunksOf(golden, out.num_tokens_));
  GDN_ASSIGN_OR_RETURN(const size_t operand, WordOf(golden, "kkt_operand", {"tf32", "ieee"}));
  out.numerics_.ablation = ablation;
  out.numerics_.kkt = ablation.kkt.value_or(operand == 0 ? KktMode::kTf32 : KktMode::kIeee);
  return out;
}

Status StageCase::ReadDims() {
  constexpr int64_t kMaxDim = 4096;
  for (const auto& [arg, dim] : {std::pair{"Hk", &hk_}, {"Hv", &hv_}, {"Dk", &dk_}, {"Dv", &dv_}}) {
    GDN_ASSIGN_OR_RETURN(*dim, golden_->IntArg(arg));
    if (*dim < 1 || *dim > kMaxDim) {
      return golden_->Error(StrCat("args.", arg, " is ", *dim, ", want it in 1..", kMaxDim));
    }
  }
  if (hv_ % hk_ != 0) {
    return golden_->Error(StrCat("args.Hv is ", hv_, ", want a multiple of Hk, ", hk_));
  }
  GDN_ASSIGN_OR_RETURN(const std::vector<int32_t> cu_seqlens, golden_->Ints("query_start_loc"));
  num_tokens_ = cu_seqlens.empty() ? 0 : std::max(cu_seqlens.back(), 0);
  constexpr int64_t kMaxTokens = 1 << 20;  // before any of them is looked at
  if (num_tokens_ > kMaxTokens) {
    return golden_->Error(
        StrCat("query_start_loc ends at ", num_tokens_, ", want at most ", kMaxTokens, " tokens"));
  }
  return OkStatus();
}

ChunkNumerics StageCase::NumericsFor(DType dtype) const {
  ChunkNumerics out = numerics_;
  if (dtype == DType::kF16) out.round = RoundTo<F16>;
  if (dtype == DType::kBf16) out.round = RoundTo<Bf16>;
  return out;
}

Result<ConstTensor> StageCase::Need(const char* name, const Shape& shape) const {
  GDN_ASSIGN_OR_RETURN(const ConstTensor out, golden_->Tensor(name, shape.rank()));
  if (out.shape != shape || !IsFloat(out.dtype)) {
    return golden_->Error(
        StrCat("tensor ", name, " is ", Describe(out), ", want floats ", shape.ToString()));
  }
  return out;
}

Result<ConstTensor> StageCase::NeedScalars(const char* name) const {
  GDN_ASSIGN_OR_RETURN(const ConstTensor out, Need(name, {num_tokens_, hv_}));
  if (out.dtype == DType::kF32) return out;
  return golden_->Error(StrCat("tensor ", name, " is ", Describe(out), ", want f32"));
}

Result<ConstTensor> StageCase::NeedKeys(const char* name) const {
  return Need(name, {num_tokens_, hk_, dk_});
}

Result<ConstTensor> StageCase::NeedRows(const char* name, int64_t cols) const {
  return Need(name, {num_tokens_, hv_, cols});
}

// Rows of one chunk and head of [T, heads, cols]; cols = 64: those of the chunk.
Matrix RowsOf(const ConstTensor& tensor, const Chunk& chunk, int64_t head, int64_t cols) {
  Matrix out(chunk.last - chunk.first, cols);
  for (int64_t i = 0; i < out.rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      out(i, j) = LoadAt(tensor, ((chunk.first + i) * tensor.dim(1) + head) * tensor.dim(2) + j);
    }
  }
  return out;
}

std::vector<float> ScalarsOf(const ConstTensor& tensor, const Chunk& chunk, int64_t head) {
  std::vector<float> out;
  for (int64_t t = chunk.first; t < chunk.last; ++t) out.push_back(tensor.Row<float>(t)[head]);
  return out;
}

void PutRows(const Tensor& tensor, const Chunk& chunk, int64_t head, const Matrix& rows) {
  for (int64_t i = 0; i < rows.rows; ++i) {
    for (int64_t j = 0; j < rows.cols; ++j) {
      StoreAt(tensor, ((chunk.first + i) * tensor.dim(1) + head) * tensor.dim(2) + j, rows(i, j));
    }
  }
}

// [HV, V, K] of one sequence or chunk, one head.
Matrix StateOf(const ConstTensor& tensor, int64_t row, int64_t head) {
  Matrix out(tensor.dim(2), tensor.dim(3));
  const auto size = static_cast<int64_t>(out.data.size());
  for (int64_t e = 0; e < size; ++e) {
    out.data[static_cast<size_t>(e)] = LoadAt(tensor, (row * tensor.dim(1) + head) * size + e);
  }
  return out;
}

void PutState(const Tensor& tensor, int64_t row, int64_t head, const Matrix& state) {
  const auto size = static_cast<int64_t>(state.data.size());
  for (int64_t e = 0; e < size; ++e) {
    StoreAt(tensor, (row * tensor.dim(1) + head) * size + e, state.data[static_cast<size_t>(e)]);
  }
}

}  // namespace gdn
