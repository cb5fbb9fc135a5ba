// SPDX-License-Identifier: Apache-2.0
// The gates can fail: each rounding point of the chunk form, when dropped, is seen by the gate of
// at least one golden case, and by which is stated here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "parity/report.h"

namespace gdn {
namespace {

namespace fs = std::filesystem;

const fs::path kInterpreter = fs::path(GDN_SOURCE_DIR) / "parity/goldens/interpreter";
const fs::path kDump =
    fs::path(GDN_SOURCE_DIR) / "../shared/goldens/gb10/gdn_prefill_bf16_realdims";

ParityReport RunDropped(const fs::path& folder, const std::string& point) {
  Workbench bench("", 1);
  return RunParity(bench, folder.string(), ParseNumerics("drop:" + point).value()).value();
}

const ParityRow& RowOf(const ParityReport& report, const std::string& name) {
  return *std::ranges::find(report.rows, name, &ParityRow::name);
}

struct OnTheDump {
  int64_t differ;    // of 8192 outputs
  double state_max;  // to two digits
};

// Counted when the numerics were settled, on the dump of the reference's kernel on a GPU.
const std::map<std::string, OnTheDump>& CountsOnTheDump() {
  static const std::map<std::string, OnTheDump> counts = {
      {"cumsum_tree", {1, 3.1e-5}},
      {"kkt_truncation", {62, 0.44e-3}},
      {"kkt_truncation_to_nearest", {98, 1.7e-3}},
      {"kkt_truncation_to_bf16", {358, 0.86e-3}},
      {"a_inverse", {179, 7.6e-4}},
      {"v_beta", {2664, 3.4e-3}},
      {"k_beta_decay", {173, 1.6e-5}},
      {"u", {1305, 1.6e-3}},
      {"w", {125, 1.6e-6}},
      {"state_in_qh", {754, 3.0e-8}},
      {"state_in_wh", {148, 1.2e-6}},
      {"v_new", {1228, 3.0e-8}},
      {"v_decayed", {0, 7.4e-4}},
      {"v_decayed_origin", {0, 5.1e-4}},
      {"p", {2703, 3.0e-8}},
      {"chunk_size_to_16", {427, 3.1e-3}},
      {"chunk_size_to_32", {0, 3.0e-8}},  // its sequences are shorter than that
  };
  return counts;
}

TEST(RoundingPoints, CountsOnTheDumpAreThoseOfTheReference) {
  if (!fs::exists(kDump)) GTEST_SKIP() << "no dump at " << kDump;
  for (const RoundingPoint& point : RoundingPoints()) {
    SCOPED_TRACE(point.name);
    ASSERT_TRUE(CountsOnTheDump().contains(point.name));
    const OnTheDump& want = CountsOnTheDump().at(point.name);
    const ParityReport report = RunDropped(kDump, point.name);
    EXPECT_EQ(RowOf(report, "out").distance.differ, want.differ);
    const double state_max = RowOf(report, "state_out").distance.max_abs;
    EXPECT_NEAR(state_max, want.state_max, 0.05 * want.state_max);
    EXPECT_EQ(report.Passes(), std::string(point.name) == "chunk_size_to_32");
  }
}

// Cases of this repository, in which every point is seen by at least one.
const std::vector<std::string>& Cases() {
  static const std::vector<std::string> cases = {
      "gdn_prefill_bf16_T20_Hk1_Hv2_D64_mid", "gdn_prefill_bf16_T200_Hk1_Hv2_D64_mid",
      "gdn_prefill_bf16_T64_Hk1_Hv4_D128_weak",
      "gdn_prefill_bf16_T5_130_1_64_Hk1_Hv2_D64_weak_edges_mixed"};
  return cases;
}

// Which of Cases() fail their gates without the point, in that order: 1 fails. The last case is
// gated by its stages; one of them is the scan, which moves the others by less than noise may.
const std::map<std::string, std::string>& CaughtBy() {
  static const std::map<std::string, std::string> caught = {
      {"cumsum_tree", "0001"},
      {"kkt_truncation", "1111"},
      {"kkt_truncation_to_nearest", "1111"},
      {"kkt_truncation_to_bf16", "1111"},
      {"a_inverse", "1111"},
      {"v_beta", "1111"},
      {"k_beta_decay", "1111"},
      {"u", "1111"},
      {"w", "1111"},
      {"state_in_qh", "1111"},
      {"state_in_wh", "1111"},
      {"v_new", "1111"},
      {"v_decayed", "1111"},
      {"v_decayed_origin", "1111"},
      {"p", "1111"},
      {"chunk_size_to_16", "1111"},
      {"chunk_size_to_32", "0111"},
  };
  return caught;
}

TEST(RoundingPoints, EachIsCaughtByTheGateOfANamedCase) {
  size_t points = 0;
  for (const RoundingPoint& point : RoundingPoints()) {
    SCOPED_TRACE(point.name);
    std::string caught;
    std::string names;
    for (const std::string& name : Cases()) {
      const bool fails = !RunDropped(kInterpreter / name, point.name).Passes();
      caught += fails ? '1' : '0';
      if (fails) names += " " + name;
    }
    std::printf("without %-26s fails:%s\n", point.name, names.c_str());
    ASSERT_TRUE(CaughtBy().contains(point.name));
    EXPECT_EQ(caught, CaughtBy().at(point.name));
    EXPECT_NE(caught, "0000");
    ++points;
  }
  EXPECT_EQ(points, CaughtBy().size());
}

TEST(RoundingPoints, NothingIsCaughtWhereNothingIsDropped) {
  Workbench bench("", 1);
  for (const std::string& name : Cases()) {
    const ParityReport report =
        RunParity(bench, (kInterpreter / name).string(), ParseNumerics("chunk").value()).value();
    EXPECT_TRUE(report.Passes()) << name;
  }
}

// What other engines run, and what a chunk form that rounds nothing is: as far as each other, and
// caught by every case.
TEST(RoundingPoints, OtherAlgorithmsAreCaughtByEveryCase) {
  Workbench bench("", 1);
  for (const char* numerics : {"recurrence_f32", "recurrence_f64", "chunk_unrounded"}) {
    for (const std::string& name : Cases()) {
      SCOPED_TRACE(std::string(numerics) + " " + name);
      const ParityReport report =
          RunParity(bench, (kInterpreter / name).string(), ParseNumerics(numerics).value()).value();
      EXPECT_FALSE(report.Passes());
      const ParityRow& out = RowOf(report, "out");
      EXPECT_GT(out.distance.differ, out.distance.elements / 4);
      EXPECT_LT(out.distance.nmse, 5e-4);  // the bar that would have passed it
    }
  }
}

}  // namespace
}  // namespace gdn
