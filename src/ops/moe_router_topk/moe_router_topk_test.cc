// SPDX-License-Identifier: Apache-2.0
#include "ops/moe_router_topk/moe_router_topk.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "ops/common/testing/simd_targets.h"
#include "ops/common/testing/test_rows.h"

namespace gdn {
namespace {

using testing::Each;
using testing::ElementsAre;

struct Routes {
  std::vector<float> weights;
  std::vector<int32_t> ids;

  friend bool operator==(const Routes& a, const Routes& b) {  // by bits: NaN is equal to NaN
    return a.ids == b.ids && a.weights.size() == b.weights.size() &&
           std::memcmp(a.weights.data(), b.weights.data(), a.weights.size() * sizeof(float)) == 0;
  }
  std::vector<int32_t> RowIds(int64_t t, int64_t top_k) const {
    return {ids.begin() + t * top_k, ids.begin() + (t + 1) * top_k};
  }
};

constexpr MoeRenormalise kBoth[] = {MoeRenormalise::kSumToOne, MoeRenormalise::kNone};

Routes Route(TestRows logits, int64_t top_k, std::string_view impl = "",
             MoeRenormalise renormalise = MoeRenormalise::kSumToOne, int threads = 1) {
  const int64_t rows = logits.view().dim(0);
  constexpr int64_t kGuard = 4;
  const auto size = static_cast<size_t>(rows * top_k);
  Routes out{std::vector<float>(size + kGuard, 7), std::vector<int32_t>(size + kGuard, -7)};
  TestContext context(threads);
  const Status status = MoeRouterTopk(
      context(impl), {logits.view(), renormalise, Tensor(out.weights.data(), Shape{rows, top_k}),
                      Tensor(out.ids.data(), Shape{rows, top_k})});
  EXPECT_TRUE(status.ok()) << status.message();
  for (size_t i = size; i < size + kGuard; ++i) {
    EXPECT_EQ(out.weights[i], 7);
    EXPECT_EQ(out.ids[i], -7);
  }
  out.weights.resize(size);
  out.ids.resize(size);
  return out;
}

template <class Body>
void ForEachImpl(const Body& body) {
  body("ref");
  ForEachSimdTarget([&] { body("moe_router_topk_"); });
}

TestRows Logits(const std::vector<std::vector<float>>& rows, DType dtype = DType::kF32) {
  TestRows logits(dtype, static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()));
  for (size_t t = 0; t < rows.size(); ++t) {
    for (size_t e = 0; e < rows[t].size(); ++e) {
      logits.Set(static_cast<int64_t>(t), static_cast<int64_t>(e), rows[t][e]);
    }
  }
  return logits;
}

class MoeRouterTopkCases : public testing::TestWithParam<RowsCase> {};

TEST_P(MoeRouterTopkCases, EveryTargetHasTheBitsOfTheReference) {
  const auto [dtype, rows, num_experts] = GetParam();
  for (const int64_t gap : {0, 5}) {
    TestRows logits(dtype, rows, num_experts, num_experts + gap);
    logits.FillNormal(1, 2);
    for (const int64_t top_k :
         std::set{int64_t{1}, std::min<int64_t>(8, num_experts), num_experts}) {
      for (const MoeRenormalise renormalise : kBoth) {
        const Routes want = Route(logits, top_k, "ref", renormalise);
        ForEachSimdTarget(
            [&] { EXPECT_TRUE(Route(logits, top_k, "moe_router_topk_", renormalise) == want); });
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MoeRouterTopkCases,
                         testing::Combine(testing::Values(DType::kF32, DType::kF16, DType::kBf16),
                                          testing::Values<int64_t>(0, 1, 2, 9),
                                          testing::Values<int64_t>(1, 3, 16, 17, 256, 257, 1024)),
                         RowsCaseName);

TEST(MoeRouterTopk, ReferenceIsASoftmaxOverAllExpertsThenASort) {
  constexpr size_t kExperts = 257;
  TestRows logits(DType::kF32, 1, kExperts);
  logits.FillNormal(2, 3);
  std::vector<double> p;
  for (const float x : logits.Values()) p.push_back(std::exp(double{x}));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  std::vector<int32_t> ids(kExperts);
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids, [&](int32_t a, int32_t b) { return p[a] > p[b]; });
  const double chosen = std::accumulate(ids.begin(), ids.begin() + 8, 0.0,
                                        [&](double total, int32_t e) { return total + p[e]; });
  for (const MoeRenormalise renormalise : kBoth) {
    const Routes got = Route(logits, 8, "ref", renormalise);
    for (size_t k = 0; k < 8; ++k) {
      EXPECT_EQ(got.ids[k], ids[k]);
      const double want = p[ids[k]] / (renormalise == MoeRenormalise::kSumToOne ? chosen : sum);
      EXPECT_NEAR(got.weights[k], want, 4e-7 * want);
    }
  }
  EXPECT_EQ(Route(logits, kExperts, "ref").ids, ids);
}

TEST(MoeRouterTopk, TiesGoToTheLowerId) {
  std::vector<float> spread(257, -1);
  for (const size_t e : {256, 200, 45, 40, 5}) spread[e] = 3;
  std::vector<float> underflow(257, -300);  // p is 0 for all but one
  underflow[9] = 0;
  underflow[256] = -200;
  const TestRows logits = Logits({std::vector<float>(257, 2), spread, underflow});
  ForEachImpl([&](std::string_view impl) {
    const Routes got = Route(logits, 4, impl);
    EXPECT_THAT(got.RowIds(0, 4), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(got.RowIds(1, 4), ElementsAre(5, 40, 45, 200));
    EXPECT_THAT(got.RowIds(2, 4), ElementsAre(9, 0, 1, 2));
    EXPECT_THAT(std::vector(got.weights.begin(), got.weights.begin() + 8), Each(0.25F));
    EXPECT_THAT(std::vector(got.weights.begin() + 8, got.weights.end()), ElementsAre(1, 0, 0, 0));
  });
}

TEST(MoeRouterTopk, ARowThatIsNotANumberSaysSoAndHarmsNoOther) {
  const std::vector<float> good{1, -INFINITY, 3, 2, 1000};
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    const TestRows logits = Logits({good,
                                    {1, NAN, 3, 2, 0},
                                    {1, 5, 3, 2, -NAN},
                                    {1, 5, INFINITY, 2, 0},
                                    std::vector<float>(5, -INFINITY),
                                    std::vector<float>(5, NAN),
                                    good},
                                   dtype);
    for (const MoeRenormalise renormalise : kBoth) {
      const Routes want = Route(logits, 5, "ref", renormalise);
      ForEachImpl([&](std::string_view impl) {
        const Routes got = Route(logits, 5, impl, renormalise);
        EXPECT_TRUE(got == want);
        for (const int64_t t : {0, 6}) EXPECT_THAT(got.RowIds(t, 5), ElementsAre(4, 0, 1, 2, 3));
        EXPECT_EQ(got.weights[0], 1);
        EXPECT_EQ(got.weights[30], 1);
        for (int64_t t = 1; t < 6; ++t) {
          EXPECT_THAT(got.RowIds(t, 5), ElementsAre(0, 1, 2, 3, 4));
          for (int64_t k = 0; k < 5; ++k) EXPECT_TRUE(std::isnan(got.weights[t * 5 + k]));
        }
      });
    }
  }
}

TEST(MoeRouterTopk, RowsDoNotDependOnTheBatchOrTheThreads) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    TestRows logits(dtype, 65, 512);
    TestRows few(dtype, 2, 512);
    logits.FillNormal(3);
    few.FillNormal(3);  // the first rows of the others
    const Routes one = Route(logits, 10);
    EXPECT_TRUE(Route(logits, 10, "", MoeRenormalise::kSumToOne, 3) == one);
    const Routes two = Route(few, 10);
    EXPECT_TRUE((two == Routes{{one.weights.begin(), one.weights.begin() + 20},
                               {one.ids.begin(), one.ids.begin() + 20}}));
  }
}

}  // namespace
}  // namespace gdn
