// SPDX-License-Identifier: Apache-2.0
// The scalar references behind gated_delta_rule.h, open for tests and parity: the recurrence in f32
// and f64, and the chunk form stage by stage with every rounding point an option.
//
// Everything here allocates and runs on the calling thread; it is the measure, not the product.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "backend/exec_context.h"
#include "ops/gated_delta_rule/gated_delta_rule.h"

namespace gdn {

// args have been validated.
void RunRecurrentRef(const ExecContext& ctx, const GatedDeltaRuleArgs& args);
void RunChunkRef(const ExecContext& ctx, const GatedDeltaRuleArgs& args);

// What either form approximates: the recurrence in f64 of the inputs as they stand. Reads
// args.state and writes nothing. out [T, HV, V], state like args.state, contiguous; rows of null
// slots are 0.
struct RecurrenceF64 {
  std::vector<double> out;
  std::vector<double> state;
};
RecurrenceF64 ComputeRecurrenceF64(const GatedDeltaRuleArgs& args);

// How k * beta enters the k k^T product; the last two are not the reference anywhere.
enum class KktMode : uint8_t { kTf32, kIeee, kTf32Nearest, kBf16 };

// One switch for each rounding point of the reference, in the order of the README's list. The
// default is the reference.
struct Ablation {
  bool tree_scan = true;        // false: the cumulative log decay is added left to right
  std::optional<KktMode> kkt;   // empty: args.kkt_operand, or kIeee for D = f32
  bool round_a_inverse = true;  // (I + A)^-1
  bool round_v_beta = true;
  bool round_k_beta_decay = true;
  bool round_u = true;
  bool round_w = true;
  bool round_state_in_qh = true;
  bool round_state_in_wh = true;
  bool round_v_new = true;
  bool round_v_decayed = true;
  bool v_decayed_from_v_new = false;  // true: from the rounded v_new, not from its f32 origin
  bool round_p = true;
  bool round_o = true;
  int64_t chunk_size = kChunkSize;  // 16, 32 or 64
  bool f64_accumulators = false;    // each product rounded to f32 once, at its end
};

// The points by name, for tests and parity. Dropping one leaves the others as they are.
struct RoundingPoint {
  const char* name;
  bool is_rounding;  // to D; false: the operand of k k^T, the order of the scan, the chunk size
  void (*drop)(Ablation& ablation);
};
std::span<const RoundingPoint> RoundingPoints();

// out before it is stored in D, [T, HV, V]; writes args.state but not args.out.
std::vector<float> ComputeChunkRef(const GatedDeltaRuleArgs& args, const Ablation& ablation);

// ---- stages of one chunk of n tokens of one value head, under the reference's names ----

struct Matrix {
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<float> data;  // row-major

  Matrix(int64_t rows_in, int64_t cols_in)
      : rows(rows_in), cols(cols_in), data(static_cast<size_t>(rows_in * cols_in)) {}
  float& operator()(int64_t i, int64_t j) { return data[static_cast<size_t>(i * cols + j)]; }
  float operator()(int64_t i, int64_t j) const { return data[static_cast<size_t>(i * cols + j)]; }
};

struct ChunkNumerics {
  float (*round)(float);  // to D, as f32
  KktMode kkt;
  Ablation ablation;
};

// [n] -> inclusive sums, [n].
std::vector<float> ChunkLocalCumsum(std::span<const float> log_decay, const ChunkNumerics& num);

// A [n, n], strictly lower: (kkt(k_i * beta_i) . k_j) * exp(cum_i - cum_j). k [n, K].
Matrix ChunkScaledDotKkt(const Matrix& k, std::span<const float> beta,
                         std::span<const float> cum_log_decay, const ChunkNumerics& num);

// (I + A)^-1 from 16 x 16 blocks, [n, n], rounded to D.
Matrix SolveTril(const Matrix& a, const ChunkNumerics& num);

struct ChunkWU {
  Matrix w;  // [n, K]
  Matrix u;  // [n, V]
};
ChunkWU RecomputeWU(const Matrix& k, const Matrix& v, std::span<const float> beta,
                    std::span<const float> cum_log_decay, const Matrix& a_inverse,
                    const ChunkNumerics& num);

struct ChunkH {
  Matrix h;      // [V, K] the state at the chunk's start as the output stage reads it
  Matrix v_new;  // [n, V]
};
// Moves state [V, K] (f32) to the chunk's end.
ChunkH ChunkFwdH(const Matrix& k, const Matrix& w, const Matrix& u,
                 std::span<const float> cum_log_decay, Matrix& state, const ChunkNumerics& num);

// o [n, V]. q [n, K].
Matrix ChunkFwdO(const Matrix& q, const Matrix& k, const Matrix& v_new, const Matrix& h,
                 std::span<const float> cum_log_decay, float scale, const ChunkNumerics& num);

}  // namespace gdn
