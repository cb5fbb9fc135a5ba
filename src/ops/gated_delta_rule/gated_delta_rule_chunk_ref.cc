// SPDX-License-Identifier: Apache-2.0
// The chunk form, written like the formulas of README.md. i, j are positions in a chunk of n
// tokens.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/common/scalar_math.h"
#include "ops/common/tensor_access.h"
#include "ops/gated_delta_rule/gated_delta_rule_ref.h"

namespace gdn {
namespace {

constexpr int64_t kBlock = 16;  // of solve_tril

template <class Accumulator>
Matrix MultiplyIn(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  std::vector<Accumulator> row(static_cast<size_t>(b.cols));
  for (int64_t i = 0; i < a.rows; ++i) {
    std::fill(row.begin(), row.end(), Accumulator{0});
    for (int64_t m = 0; m < a.cols; ++m) {
      for (int64_t j = 0; j < b.cols; ++j) {
        row[static_cast<size_t>(j)] += Accumulator{a(i, m)} * Accumulator{b(m, j)};
      }
    }
    for (int64_t j = 0; j < b.cols; ++j) c(i, j) = static_cast<float>(row[static_cast<size_t>(j)]);
  }
  return c;
}

// a [n, m] b [m, p], each sum in the order of m.
Matrix Multiply(const Matrix& a, const Matrix& b, const ChunkNumerics& num) {
  return num.ablation.f64_accumulators ? MultiplyIn<double>(a, b) : MultiplyIn<float>(a, b);
}

Matrix Transposed(const Matrix& a) {
  Matrix out(a.cols, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.cols; ++j) out(j, i) = a(i, j);
  }
  return out;
}

void RoundAll(Matrix& a, const ChunkNumerics& num) {
  for (float& x : a.data) x = num.round(x);
}

float KktOperandOf(float x, KktMode mode) {
  const auto bits = std::bit_cast<uint32_t>(x);
  switch (mode) {
    case KktMode::kTf32:
      return std::bit_cast<float>(bits & 0xFFFFE000);
    case KktMode::kTf32Nearest:
      return std::bit_cast<float>((bits + 0xFFF + ((bits >> 13) & 1)) & 0xFFFFE000);
    case KktMode::kBf16:
      return RoundTo<Bf16>(x);
    case KktMode::kIeee:
      break;
  }
  return x;
}

Matrix BlockOf(const Matrix& a, int64_t row, int64_t col) {
  Matrix out(kBlock, kBlock);
  for (int64_t i = 0; i < kBlock; ++i) {
    for (int64_t j = 0; j < kBlock; ++j) {
      const int64_t from_row = row * kBlock + i;
      const int64_t from_col = col * kBlock + j;
      if (from_row < a.rows && from_col < a.cols) out(i, j) = a(from_row, from_col);
    }
  }
  return out;
}

// Triton's minus is a subtraction: no zero becomes negative.
float Negated(float x) { return 0 - x; }

// (I + A)^-1 of one diagonal block by forward substitution.
Matrix InvertDiagonalBlock(const Matrix& a, const ChunkNumerics& num) {
  Matrix m(kBlock, kBlock);
  for (int64_t i = 1; i < kBlock; ++i) {
    Matrix minus_a(1, i);
    Matrix above(i, kBlock);
    for (int64_t j = 0; j < i; ++j) {
      minus_a(0, j) = Negated(a(i, j));
      for (int64_t l = 0; l < kBlock; ++l) above(j, l) = m(j, l);
    }
    const Matrix sum = Multiply(minus_a, above, num);
    for (int64_t j = 0; j < kBlock; ++j) m(i, j) = (j < i ? minus_a(0, j) : 0) + sum(0, j);
  }
  for (int64_t i = 0; i < kBlock; ++i) m(i, i) += 1;
  return m;
}

}  // namespace

std::vector<float> ChunkLocalCumsum(std::span<const float> log_decay, const ChunkNumerics& num) {
  std::vector<float> sum(log_decay.begin(), log_decay.end());
  if (!num.ablation.tree_scan) {
    for (size_t i = 1; i < sum.size(); ++i) sum[i] += sum[i - 1];
    return sum;
  }
  for (size_t step = 1; step < sum.size(); step *= 2) {  // lanes past n never reach those before
    for (size_t i = sum.size(); i-- > step;) sum[i] += sum[i - step];
  }
  return sum;
}

Matrix ChunkScaledDotKkt(const Matrix& k, std::span<const float> beta,
                         std::span<const float> cum_log_decay, const ChunkNumerics& num) {
  Matrix k_beta = k;
  for (int64_t i = 0; i < k.rows; ++i) {
    for (int64_t d = 0; d < k.cols; ++d) {
      k_beta(i, d) = KktOperandOf(k(i, d) * beta[static_cast<size_t>(i)], num.kkt);
    }
  }
  Matrix a = Multiply(k_beta, Transposed(k), num);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.cols; ++j) {
      a(i, j) = i > j ? a(i, j) * ExpF32(cum_log_decay[static_cast<size_t>(i)] -
                                         cum_log_decay[static_cast<size_t>(j)])
                      : 0;
    }
  }
  return a;
}

Matrix SolveTril(const Matrix& a, const ChunkNumerics& num) {
  const int64_t blocks = (a.rows + kBlock - 1) / kBlock;
  std::vector<std::vector<Matrix>> x(
      static_cast<size_t>(blocks),
      std::vector<Matrix>(static_cast<size_t>(blocks), Matrix(kBlock, kBlock)));
  const auto block = [&](int64_t i, int64_t j) -> Matrix& {
    return x[static_cast<size_t>(i)][static_cast<size_t>(j)];
  };
  for (int64_t i = 0; i < blocks; ++i) block(i, i) = InvertDiagonalBlock(BlockOf(a, i, i), num);
  for (int64_t distance = 1; distance < blocks; ++distance) {
    for (int64_t j = 0; j + distance < blocks; ++j) {
      const int64_t i = j + distance;
      Matrix product(kBlock, kBlock);
      if (distance == 1) {
        product = Multiply(Multiply(block(i, i), BlockOf(a, i, j), num), block(j, j), num);
      } else {
        Matrix sum(kBlock, kBlock);
        for (int64_t m = j; m < i; ++m) {
          const Matrix term = Multiply(BlockOf(a, i, m), block(m, j), num);
          for (size_t e = 0; e < sum.data.size(); ++e) sum.data[e] += term.data[e];
        }
        product = Multiply(block(i, i), sum, num);
      }
      for (float& e : product.data) e = Negated(e);
      block(i, j) = product;
    }
  }
  Matrix inverse(a.rows, a.cols);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      inverse(i, j) = block(i / kBlock, j / kBlock)(i % kBlock, j % kBlock);
    }
  }
  if (num.ablation.round_a_inverse) RoundAll(inverse, num);
  return inverse;
}

ChunkWU RecomputeWU(const Matrix& k, const Matrix& v, std::span<const float> beta,
                    std::span<const float> cum_log_decay, const Matrix& a_inverse,
                    const ChunkNumerics& num) {
  Matrix v_beta = v;
  Matrix k_beta_decay = k;
  for (int64_t i = 0; i < v.rows; ++i) {
    const float beta_i = beta[static_cast<size_t>(i)];
    const float decay = ExpF32(cum_log_decay[static_cast<size_t>(i)]);
    for (int64_t d = 0; d < v.cols; ++d) v_beta(i, d) = v(i, d) * beta_i;
    for (int64_t d = 0; d < k.cols; ++d) k_beta_decay(i, d) = (k(i, d) * beta_i) * decay;
  }
  if (num.ablation.round_v_beta) RoundAll(v_beta, num);
  if (num.ablation.round_k_beta_decay) RoundAll(k_beta_decay, num);
  ChunkWU out{Multiply(a_inverse, k_beta_decay, num), Multiply(a_inverse, v_beta, num)};
  if (num.ablation.round_u) RoundAll(out.u, num);
  if (num.ablation.round_w) RoundAll(out.w, num);
  return out;
}

ChunkH ChunkFwdH(const Matrix& k, const Matrix& w, const Matrix& u,
                 std::span<const float> cum_log_decay, Matrix& state, const ChunkNumerics& num) {
  ChunkH out{state, u};
  if (num.ablation.round_state_in_qh) RoundAll(out.h, num);
  Matrix operand = state;
  if (num.ablation.round_state_in_wh) RoundAll(operand, num);
  const Matrix read = Multiply(w, Transposed(operand), num);
  Matrix v_wide = u;
  for (size_t e = 0; e < v_wide.data.size(); ++e) v_wide.data[e] = u.data[e] - read.data[e];
  out.v_new = v_wide;
  if (num.ablation.round_v_new) RoundAll(out.v_new, num);

  const float cum_last = cum_log_decay.back();
  Matrix v_decayed = num.ablation.v_decayed_from_v_new ? out.v_new : v_wide;
  for (int64_t i = 0; i < v_decayed.rows; ++i) {
    const float decay = ExpF32(cum_last - cum_log_decay[static_cast<size_t>(i)]);
    for (int64_t d = 0; d < v_decayed.cols; ++d) v_decayed(i, d) *= decay;
  }
  if (num.ablation.round_v_decayed) RoundAll(v_decayed, num);

  const Matrix added = Transposed(Multiply(Transposed(k), v_decayed, num));
  const float decay = ExpF32(cum_last);
  for (size_t e = 0; e < state.data.size(); ++e) {
    state.data[e] = state.data[e] * decay + added.data[e];
  }
  return out;
}

Matrix ChunkFwdO(const Matrix& q, const Matrix& k, const Matrix& v_new, const Matrix& h,
                 std::span<const float> cum_log_decay, float scale, const ChunkNumerics& num) {
  const Matrix read = Multiply(q, Transposed(h), num);
  Matrix p = Multiply(q, Transposed(k), num);
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t j = 0; j < p.cols; ++j) {
      p(i, j) = i >= j ? p(i, j) * ExpF32(cum_log_decay[static_cast<size_t>(i)] -
                                          cum_log_decay[static_cast<size_t>(j)])
                       : 0;
    }
  }
  if (num.ablation.round_p) RoundAll(p, num);
  Matrix o = Multiply(p, v_new, num);
  for (int64_t i = 0; i < o.rows; ++i) {
    const float decay = ExpF32(cum_log_decay[static_cast<size_t>(i)]);
    for (int64_t d = 0; d < o.cols; ++d) {
      o(i, d) = (read(i, d) * decay) * scale + o(i, d) * scale;
    }
  }
  if (num.ablation.round_o) RoundAll(o, num);
  return o;
}

namespace {

Matrix LoadRows(const ConstTensor& tensor, int64_t first, int64_t last, int64_t head) {
  Matrix out(last - first, tensor.dim(2));
  for (int64_t i = 0; i < out.rows; ++i) {
    for (int64_t d = 0; d < out.cols; ++d) {
      out(i, d) = LoadAt(tensor, OffsetOf(tensor, first + i, head, d));
    }
  }
  return out;
}

std::vector<float> LoadColumn(const ConstTensor& tensor, int64_t first, int64_t last,
                              int64_t head) {
  std::vector<float> out;
  for (int64_t t = first; t < last; ++t) out.push_back(tensor.Row<float>(t)[head]);
  return out;
}

// One chunk, tokens [first, last), of one value head. out is the row of head in [T, HV, V].
void RunOneChunk(const GatedDeltaRuleArgs& args, const ChunkNumerics& num, int64_t first,
                 int64_t last, int64_t head, Matrix& state, std::vector<float>& out) {
  const int64_t key_head = KeyHeadOf(head, args.k.dim(1), args.v.dim(1));
  const Matrix q = LoadRows(args.q, first, last, key_head);
  const Matrix k = LoadRows(args.k, first, last, key_head);
  const Matrix v = LoadRows(args.v, first, last, head);
  const std::vector<float> beta = LoadColumn(args.beta, first, last, head);
  const std::vector<float> cum =
      ChunkLocalCumsum(LoadColumn(args.log_decay, first, last, head), num);
  const Matrix a = ChunkScaledDotKkt(k, beta, cum, num);
  const Matrix a_inverse = SolveTril(a, num);
  const ChunkWU wu = RecomputeWU(k, v, beta, cum, a_inverse, num);
  const ChunkH state_pass = ChunkFwdH(k, wu.w, wu.u, cum, state, num);
  const Matrix o = ChunkFwdO(q, k, state_pass.v_new, state_pass.h, cum, args.scale, num);
  for (int64_t i = 0; i < o.rows; ++i) {
    const int64_t row = (first + i) * args.v.dim(1) + head;
    std::copy_n(o.data.begin() + i * o.cols, o.cols, out.begin() + row * o.cols);
  }
}

ChunkNumerics NumericsOf(const GatedDeltaRuleArgs& args, const Ablation& ablation) {
  ChunkNumerics num{RoundTo<float>, KktMode::kIeee, ablation};
  if (args.v.dtype == DType::kBf16) num.round = RoundTo<Bf16>;
  if (args.v.dtype == DType::kF16) num.round = RoundTo<F16>;
  if (args.v.dtype != DType::kF32 && args.kkt_operand == KktOperand::kTf32) {
    num.kkt = KktMode::kTf32;
  }
  num.kkt = ablation.kkt.value_or(num.kkt);
  return num;
}

}  // namespace

std::vector<float> ComputeChunkRef(const GatedDeltaRuleArgs& args, const Ablation& ablation) {
  const ChunkNumerics num = NumericsOf(args, ablation);
  std::vector<float> out(static_cast<size_t>(args.v.shape.NumElements()));
  for (size_t n = 0; n < args.state_slots.size(); ++n) {
    const int32_t slot = args.state_slots[n];
    const int32_t end = args.cu_seqlens[n + 1];
    if (slot <= 0 || args.cu_seqlens[n] == end) continue;
    for (int64_t head = 0; head < args.v.dim(1); ++head) {
      Matrix state(args.v.dim(2), args.k.dim(2));
      float* pool_state = args.state.Row<float>(slot) + head * args.state.stride(1);
      if (args.has_initial_state[n] != 0) {
        std::copy_n(pool_state, state.data.size(), state.data.begin());
      }
      for (int64_t first = args.cu_seqlens[n]; first < end; first += ablation.chunk_size) {
        const int64_t last = std::min<int64_t>(first + ablation.chunk_size, end);
        RunOneChunk(args, num, first, last, head, state, out);
      }
      std::copy(state.data.begin(), state.data.end(), pool_state);
    }
  }
  return out;
}

void RunChunkRef(const ExecContext& /*ctx*/, const GatedDeltaRuleArgs& args) {
  const std::vector<float> out = ComputeChunkRef(args, Ablation{});
  const int64_t v_dim = args.v.dim(2);
  for (size_t e = 0; e < out.size(); ++e) {
    const int64_t row = static_cast<int64_t>(e) / v_dim;
    StoreAt(args.out,
            OffsetOf(args.out, row / args.v.dim(1), row % args.v.dim(1),
                     static_cast<int64_t>(e) % v_dim),
            out[e]);
  }
}

}  // namespace gdn
