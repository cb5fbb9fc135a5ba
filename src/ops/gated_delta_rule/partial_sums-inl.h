// SPDX-License-Identifier: Apache-2.0
// Dot products of rows in a fixed order of sums. Included once per target.

#if defined(GDN_OPS_GATED_DELTA_RULE_PARTIAL_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GDN_OPS_GATED_DELTA_RULE_PARTIAL_SUMS_INL_H_
#undef GDN_OPS_GATED_DELTA_RULE_PARTIAL_SUMS_INL_H_
#else
#define GDN_OPS_GATED_DELTA_RULE_PARTIAL_SUMS_INL_H_
#endif

#include "ops/common/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gdn {
namespace HWY_NAMESPACE {

using D4 = hn::FixedTag<float, 4>;
using V4 = hn::Vec<D4>;

// Terms of a dot product are summed in this many partial sums, whatever the vector width.
constexpr size_t kPartialSums = 16;

// Folds the 16 partial sums of 4 rows, row-major, in halves: lane r of the result is row r's sum.
HWY_INLINE V4 FoldRows(const float* partial) {
  const D4 d;
  const auto fold = [&](size_t row) HWY_ATTR {
    const float* p = partial + row * kPartialSums;
    return hn::Add(hn::Add(hn::LoadU(d, p), hn::LoadU(d, p + 8)),
                   hn::Add(hn::LoadU(d, p + 4), hn::LoadU(d, p + 12)));
  };
  const V4 r0 = fold(0);
  const V4 r1 = fold(1);
  const V4 r2 = fold(2);
  const V4 r3 = fold(3);
  // Transposed, so that lane j of every row meets its partners in plain additions.
  const V4 low01 = hn::InterleaveLower(d, r0, r1);
  const V4 low23 = hn::InterleaveLower(d, r2, r3);
  const V4 high01 = hn::InterleaveUpper(d, r0, r1);
  const V4 high23 = hn::InterleaveUpper(d, r2, r3);
  const V4 lane0 = hn::ConcatLowerLower(d, low23, low01);
  const V4 lane1 = hn::ConcatUpperUpper(d, low23, low01);
  const V4 lane2 = hn::ConcatLowerLower(d, high23, high01);
  const V4 lane3 = hn::ConcatUpperUpper(d, high23, high01);
  return hn::Add(hn::Add(lane0, lane2), hn::Add(lane1, lane3));
}

// Vectors of one set of partial sums.
constexpr size_t kSumVecs = HWY_MAX(size_t{1}, kPartialSums / hn::MaxLanes(DF()));

// (S * decay) k of 4 state rows, s [4, stride], width a multiple of kPartialSums. The decayed value
// is not stored: UpdateRows forms it again.
HWY_INLINE V4 ReadRows(const float* HWY_RESTRICT s, size_t stride, size_t width,
                       const float* HWY_RESTRICT k, float decay) {
  const DF d;
  const VF decay_vec = hn::Set(d, decay);
  const size_t lanes = hn::Lanes(d);
  VF sum[4][kSumVecs];
  HWY_UNROLL(4)
  for (auto& row : sum) {
    HWY_UNROLL(16)
    for (VF& chain : row) chain = hn::Zero(d);
  }
  for (size_t j = 0; j < width; j += kPartialSums) {
    HWY_UNROLL(16)
    for (size_t part = 0; part < kSumVecs; ++part) {
      const size_t at = j + part * lanes;
      const VF key = hn::LoadU(d, k + at);
      HWY_UNROLL(4)
      for (size_t r = 0; r < 4; ++r) {
        const VF decayed = hn::Mul(hn::LoadU(d, s + r * stride + at), decay_vec);
        sum[r][part] = hn::MulAdd(decayed, key, sum[r][part]);
      }
    }
  }
  HWY_ALIGN std::array<float, 4 * kPartialSums> partial;
  HWY_UNROLL(4)
  for (size_t r = 0; r < 4; ++r) {
    HWY_UNROLL(16)
    for (size_t part = 0; part < kSumVecs; ++part) {
      hn::StoreU(sum[r][part], d, partial.data() + r * kPartialSums + part * lanes);
    }
  }
  return FoldRows(partial.data());
}

}  // namespace HWY_NAMESPACE
}  // namespace gdn
HWY_AFTER_NAMESPACE();

#endif  // GDN_OPS_GATED_DELTA_RULE_PARTIAL_SUMS_INL_H_
