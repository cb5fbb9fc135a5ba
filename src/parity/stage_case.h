// SPDX-License-Identifier: Apache-2.0
// A golden case as the stages of the chunk form see it: chunks, heads, and tensors cut along both.
#pragma once

#include <vector>

#include "ops/gated_delta_rule/gated_delta_rule_ref.h"
#include "parity/golden_case.h"

namespace gdn {

// Where a chunk lies. first and last are rows of T.
struct Chunk {
  size_t sequence;
  int64_t first;
  int64_t last;
  int64_t index;  // among all chunks of the batch
};

// What the stages share of a case. Dims come from args, for no stage reads every tensor.
class StageCase {
 public:
  // Errors: kInvalidArgument for args and query_start_loc.
  static Result<StageCase> Create(const GoldenCase& golden, const Ablation& ablation);

  const GoldenCase& golden() const { return *golden_; }
  const std::vector<Chunk>& chunks() const { return chunks_; }
  int64_t num_tokens() const { return num_tokens_; }
  int64_t num_value_heads() const { return hv_; }
  int64_t k_dim() const { return dk_; }
  int64_t v_dim() const { return dv_; }
  int64_t KeyHead(int64_t head) const { return KeyHeadOf(head, hk_, hv_); }
  // D is the dtype of a tensor that has it.
  ChunkNumerics NumericsFor(DType dtype) const;

  // The tensors by shape: floats, or kInvalidArgument.
  Result<ConstTensor> Need(const char* name, const Shape& shape) const;
  Result<ConstTensor> NeedScalars(const char* name) const;             // [T, HV] f32
  Result<ConstTensor> NeedKeys(const char* name) const;                // [T, H, K]
  Result<ConstTensor> NeedRows(const char* name, int64_t cols) const;  // [T, HV, cols]

  // Calls body(chunk, head) for each chunk and value head; chunks of a sequence in order.
  template <class Body>
  void ForEachChunkAndHead(const Body& body) const {
    for (int64_t head = 0; head < hv_; ++head) {
      for (const Chunk& chunk : chunks_) body(chunk, head);
    }
  }

 private:
  explicit StageCase(const GoldenCase& golden) : golden_(&golden) {}
  Status ReadDims();

  const GoldenCase* golden_;
  int64_t num_tokens_ = 0;
  int64_t hk_ = 0;
  int64_t hv_ = 0;
  int64_t dk_ = 0;
  int64_t dv_ = 0;
  std::vector<Chunk> chunks_;
  ChunkNumerics numerics_{RoundTo<float>, KktMode::kTf32, {}};
};

// The first cols columns of one chunk and head of [T, heads, >= cols], and back.
Matrix RowsOf(const ConstTensor& tensor, const Chunk& chunk, int64_t head, int64_t cols);
void PutRows(const Tensor& tensor, const Chunk& chunk, int64_t head, const Matrix& rows);
// One chunk and head of [T, HV] f32.
std::vector<float> ScalarsOf(const ConstTensor& tensor, const Chunk& chunk, int64_t head);
// [V, K] of row (a sequence or a chunk) and head of [rows, HV, V, K], and back.
Matrix StateOf(const ConstTensor& tensor, int64_t row, int64_t head);
void PutState(const Tensor& tensor, int64_t row, int64_t head, const Matrix& state);

}  // namespace gdn
