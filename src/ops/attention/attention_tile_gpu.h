// SPDX-License-Identifier: Apache-2.0
// The state of a tile of attention_gpu.cu, its scores, softmax and sums over blocks of keys, and
// how chunks of them are joined or left in scratch.
#pragma once

#include "ops/attention/attention_chunks_gpu.h"

namespace gdn::GDN_GPU_NAMESPACE {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kKeys = gpu::kKeyBlock;

// The tile of a block, as its threads see it. kDim is head_dim, rounded up.
template <class T, uint32_t kRows, uint32_t kDim>
class Tile {
 public:
  GDN_DEVICE explicit Tile(const gpu::AttentionParams& p)
      : p_(p),
        self_(ThreadIndex()),
        row_(self_ / 16),
        q_(memory_.template Take<float>(kRows * kDim)),
        k_(memory_.template Take<float>(kKeys * kPitch)),
        weights_(memory_.template Take<float>(kRows * kKeys)),
        num_keys_(memory_.template Take<uint32_t>(kRows)),
        alpha_(memory_.template Take<float>(kRows)),
        total_factor_(memory_.template Take<float>(kRows)),
        chunk_factor_(memory_.template Take<float>(kRows)) {}

  // Rows [first_row, first_row + kRows) of a sequence that has count of them for the kv head.
  GDN_DEVICE void Run(uint32_t sequence, uint32_t kv_head, uint32_t first_row, uint32_t count) {
    sequence_ = sequence;
    kv_head_ = kv_head;
    first_row_ = first_row;
    first_token_ = static_cast<uint32_t>(p_.sequences.cu_seqlens[sequence]);
    num_rows_ = count - first_row < kRows ? count - first_row : kRows;
    // Positions ascend: the last row has the most keys.
    const uint32_t tile_keys = NumKeys(num_rows_ - 1);
    const uint32_t only_chunk = BlockZ();
    if (p_.partial != nullptr && only_chunk * gpu::kKeyChunk >= tile_keys) return;
    LoadRows();
    if (p_.partial != nullptr) {
      AttendChunk(only_chunk, tile_keys);
      StorePartial(only_chunk);
      return;
    }
    GDN_UNROLL for (uint32_t i = 0; i < kSums; ++i) totals_[i] = 0;
    for (uint32_t chunk = 0; chunk * gpu::kKeyChunk < tile_keys; ++chunk) {
      AttendChunk(chunk, tile_keys);
      JoinChunk(chunk);
    }
    StoreOut();
  }

 private:
  static constexpr uint32_t kStep = gpu::KeyStep(kDim);
  static constexpr uint32_t kPitch = gpu::KeyPitch(kDim);
  static constexpr uint32_t kScores = kRows / 4;                // of a thread
  static constexpr uint32_t kSums = kRows * kDim / kThreads;    // of a thread
  static constexpr uint32_t kDims = (kDim + 255) / kThreads;    // of a thread's sums
  static constexpr uint32_t kGroups = kThreads * kDims / kDim;  // of threads, of other rows each
  static constexpr uint32_t kAhead = 8;                         // values that are read together

  // Sum i of this thread.
  GDN_DEVICE uint32_t SumRow(uint32_t i) const {
    return self_ * kDims / kDim + i / kDims * kGroups;
  }
  GDN_DEVICE uint32_t SumDim(uint32_t i) const { return self_ % kDim + i % kDims * kThreads; }

  GDN_DEVICE uint32_t Group() const { return p_.num_heads / p_.num_kv_heads; }
  GDN_DEVICE uint32_t TokenOf(uint32_t row) const {
    return first_token_ + (first_row_ + row) / Group();
  }
  GDN_DEVICE uint32_t HeadOf(uint32_t row) const {
    return kv_head_ * Group() + (first_row_ + row) % Group();
  }
  // Of [T, Hq].
  GDN_DEVICE uint64_t OutRow(uint32_t row) const {
    return uint64_t{TokenOf(row)} * p_.num_heads + HeadOf(row);
  }
  // That the row sees; 0: there is no such row.
  GDN_DEVICE uint32_t NumKeys(uint32_t row) const {
    if (row >= num_rows_) return 0;
    return static_cast<uint32_t>(p_.sequences.positions[TokenOf(row)]) + 1;
  }

  GDN_DEVICE void LoadRows() {
    for (uint32_t i = self_; i < kRows * kDim; i += kThreads) {
      const uint32_t row = i / kDim;
      const uint32_t d = i % kDim;
      const bool is_inside = row < num_rows_ && d < p_.head_dim;
      q_[i] = is_inside ? ToF32(HeadAt<T>(p_.q, TokenOf(row), HeadOf(row))[d]) : 0.0F;
    }
    if (self_ < kRows) num_keys_[self_] = NumKeys(self_);
    total_max_ = MinusInfinity();
    total_sum_ = 0;
    Barrier();
    row_keys_ = row_ < kRows ? static_cast<uint32_t>(num_keys_[row_]) : 0;
  }

  GDN_DEVICE void AttendChunk(uint32_t chunk, uint32_t tile_keys) {
    max_ = MinusInfinity();
    sum_ = 0;
    GDN_UNROLL for (uint32_t i = 0; i < kSums; ++i) sums_[i] = 0;
    const uint32_t chunk_end = (chunk + 1) * gpu::kKeyChunk;
    const uint32_t end = tile_keys < chunk_end ? tile_keys : chunk_end;
    for (uint32_t first = chunk * gpu::kKeyChunk; first < end; first += kKeys) {
      const uint32_t count = end - first < kKeys ? end - first : kKeys;
      const uint64_t at =
          KeyBlockAt(p_.sequences, sequence_, first, p_.num_kv_heads, kv_head_, p_.head_dim);
      Score(count, static_cast<const T*>(p_.k_cache) + at);
      Softmax(first);
      AddValues(first, count, static_cast<const T*>(p_.v_cache) + at);
    }
  }

  // Scores of a block of keys to weights_; those past a row's last key mean nothing.
  GDN_DEVICE void Score(uint32_t count, const T* keys) {
    const uint32_t key = self_ % kKeys;
    const uint32_t row = self_ / kKeys;  // and every 4th after it
    float scores[kScores];
    GDN_UNROLL for (uint32_t r = 0; r < kScores; ++r) scores[r] = 0;
    for (uint32_t first = 0; first < p_.head_dim; first += kStep) {
      for (uint32_t i = self_; i < kKeys * kStep; i += kThreads) {
        const uint32_t d = first + i % kStep;
        const bool is_inside = d < p_.head_dim && i / kStep < count;
        k_[i / kStep * kPitch + i % kStep] =
            is_inside ? ToF32(keys[i / kStep * p_.head_dim + d]) : 0.0F;
      }
      Barrier();
      const uint32_t width = p_.head_dim - first < kStep ? p_.head_dim - first : kStep;
      for (uint32_t d = 0; d < width; ++d) {
        const float k = k_[key * kPitch + d];
        GDN_UNROLL for (uint32_t r = 0; r < kScores; ++r) {
          scores[r] = Fma(q_[(row + 4 * r) * kDim + first + d], k, scores[r]);
        }
      }
      Barrier();
    }
    GDN_UNROLL for (uint32_t r = 0; r < kScores; ++r) {
      weights_[(row + 4 * r) * kKeys + key] = scores[r] * p_.scale;
    }
    Barrier();
  }

  // The weights p from scores, and what earlier sums are multiplied by.
  GDN_DEVICE void Softmax(uint32_t first_key) {
    const uint32_t part = self_ % 16;
    const uint32_t seen = row_keys_ > first_key ? row_keys_ - first_key : 0;
    const uint32_t count = seen < kKeys ? seen : kKeys;
    float new_max = max_;
    for (uint32_t j = part; j < count; j += 16) new_max = Max(new_max, weights_[row_ * kKeys + j]);
    GDN_UNROLL for (uint32_t mask = 8; mask > 0; mask /= 2) {
      new_max = Max(new_max, ShuffleXor(new_max, mask));
    }
    float partial = 0;
    for (uint32_t j = part; j < count; j += 16) {
      const float weight = Exp(weights_[row_ * kKeys + j] - new_max);
      weights_[row_ * kKeys + j] = weight;
      partial += weight;
    }
    const float block_sum = SumOfSixteen(partial);
    float alpha = 1;
    if (count > 0) {
      alpha = Exp(max_ - new_max);
      sum_ = sum_ * alpha + block_sum;
      max_ = new_max;
    }
    if (part == 0 && row_ < kRows) alpha_[row_] = alpha;
    Barrier();
  }

  // Adds p v of a block of keys. A key that a row does not see is never multiplied: it may be
  // infinite.
  GDN_DEVICE void AddValues(uint32_t first_key, uint32_t count, const T* values) {
    uint32_t limits[kSums];
    GDN_UNROLL for (uint32_t i = 0; i < kSums; ++i) {
      const uint32_t keys = num_keys_[SumRow(i)];
      sums_[i] = sums_[i] * alpha_[SumRow(i)];
      limits[i] = keys > first_key ? keys - first_key : 0;
    }
    for (uint32_t first = 0; first < count; first += kAhead) {
      // Of rows that the cache has, though perhaps no token yet.
      float v[kAhead][kDims];
      GDN_UNROLL for (uint32_t j = 0; j < kAhead; ++j) {
        GDN_UNROLL for (uint32_t d = 0; d < kDims; ++d) {
          const bool is_inside = SumDim(d) < p_.head_dim;
          v[j][d] = is_inside ? ToF32(values[(first + j) * p_.head_dim + SumDim(d)]) : 0.0F;
        }
      }
      GDN_UNROLL for (uint32_t j = 0; j < kAhead; ++j) {
        GDN_UNROLL for (uint32_t i = 0; i < kSums; ++i) {
          const float weight = weights_[SumRow(i) * kKeys + first + j];
          const float added = Fma(weight, v[j][i % kDims], sums_[i]);
          sums_[i] = first + j < limits[i] ? added : sums_[i];
        }
      }
    }
  }

  GDN_DEVICE bool SumExists(uint32_t i) const {
    return SumRow(i) < num_rows_ && SumDim(i) < p_.head_dim;
  }

  GDN_DEVICE float* PartialAt(uint32_t row, uint32_t chunk) const {
    return p_.partial + (OutRow(row) * p_.max_chunks + chunk) * (p_.head_dim + 2);
  }

  GDN_DEVICE void StorePartial(uint32_t chunk) {
    GDN_UNROLL for (uint32_t i = 0; i < kSums; ++i) {
      if (SumExists(i)) PartialAt(SumRow(i), chunk)[SumDim(i)] = sums_[i];
    }
    if (self_ % 16 == 0 && row_ < num_rows_) {
      PartialAt(row_, chunk)[p_.head_dim] = max_;
      PartialAt(row_, chunk)[p_.head_dim + 1] = sum_;
    }
  }

  GDN_DEVICE void JoinChunk(uint32_t chunk) {
    const uint32_t first_key = chunk * gpu::kKeyChunk;
    if (row_keys_ > first_key) {
      const MergeFactors factors = FactorsOf(total_max_, max_);
      total_sum_ = Merge(total_sum_, sum_, factors);
      total_max_ = Max(total_max_, max_);
      if (self_ % 16 == 0) {
        total_factor_[row_] = factors.total;
        chunk_factor_[row_] = factors.chunk;
      }
    }
    Barrier();
    GDN_UNROLL for (uint32_t i = 0; i < kSums; ++i) {
      const uint32_t row = SumRow(i);
      if (num_keys_[row] <= first_key) continue;
      totals_[i] = Merge(totals_[i], sums_[i], {total_factor_[row], chunk_factor_[row]});
    }
  }

  GDN_DEVICE void StoreOut() {
    if (self_ % 16 == 0 && row_ < num_rows_) alpha_[row_] = total_sum_;
    Barrier();
    T* out = static_cast<T*>(p_.out);
    GDN_UNROLL for (uint32_t i = 0; i < kSums; ++i) {
      if (!SumExists(i)) continue;
      const float value = totals_[i] / alpha_[SumRow(i)];
      out[OutRow(SumRow(i)) * p_.head_dim + SumDim(i)] = FromF32<T>(value);
    }
  }

  const gpu::AttentionParams& p_;
  const uint32_t self_;
  const uint32_t row_;  // of this thread in the softmax; it may be past the last
  SharedMemory memory_;
  const SharedArray<float> q_;             // [kRows, kDim]
  const SharedArray<float> k_;             // [kKeys, kPitch]: some dims of a block of keys
  const SharedArray<float> weights_;       // [kRows, kKeys]: scores, then p
  const SharedArray<uint32_t> num_keys_;   // of each row, as the three below
  const SharedArray<float> alpha_;         // what sums before the block are multiplied by
  const SharedArray<float> total_factor_;  // MergeFactors
  const SharedArray<float> chunk_factor_;
  uint32_t sequence_, kv_head_, first_row_, first_token_, num_rows_;
  // Of row_: its keys; of the chunk, and of the chunks before, the greatest score and the sum of p.
  uint32_t row_keys_;
  float max_, sum_;
  float total_max_, total_sum_;
  float sums_[kSums];    // of p v, of the chunk
  float totals_[kSums];  // of the chunks before
};

}  // namespace gdn::GDN_GPU_NAMESPACE
