// SPDX-License-Identifier: Apache-2.0
#include "parity/golden_case.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "parity/golden_case_testing.h"
#include "parity/report.h"

namespace gdn {
namespace {

// A product whose golden is right: [1, 2] x [2, 1].
void FillMatmul(CaseWriter& c) {
  c.Add("a", DType::kBf16, {1, 2}, {1, 2});
  c.Add("b", DType::kBf16, {2, 1}, {3, 4});
  c.Add("out", DType::kF32, {1, 1}, {11});
}

Result<ParityReport> RunCase(const std::string& folder, const std::string& impl = "",
                             const char* numerics = "reference") {
  Workbench bench(impl, 1);
  return RunParity(bench, folder, ParseNumerics(numerics).value());
}

TEST(GoldenCase, ReadsManifestAndTensors) {
  CaseWriter c("matmul");
  FillMatmul(c);
  c.manifest["noise"] = {{"out", {{"differ", 0.125}, {"nmse", 1e-7}}}};
  c.manifest["args"] = {{"n", 3}, {"x", 0.5}, {"flag", true}, {"word", "w"}};
  const Result<GoldenCase> golden = GoldenCase::Read(c.Write() + "/");
  ASSERT_TRUE(golden.ok()) << golden.status().message();
  EXPECT_EQ(golden->op(), "matmul");
  EXPECT_FALSE(golden->name().empty());
  EXPECT_EQ(golden->implementation(), "a test");
  EXPECT_EQ(golden->Tensor("a", 2).value().dtype, DType::kBf16);
  EXPECT_EQ(golden->noise("out").differ, 0.125);
  EXPECT_EQ(golden->noise("other").nmse, 0);
  EXPECT_EQ(golden->IntArg("n").value(), 3);
  EXPECT_EQ(golden->NumberArg("x").value(), 0.5);
  EXPECT_TRUE(golden->BoolArg("flag").value());
  EXPECT_EQ(golden->WordArg("word", "").value(), "w");
  EXPECT_EQ(golden->IntArg("absent", 7).value(), 7);
  EXPECT_FALSE(golden->IntArg("absent").ok());
  EXPECT_FALSE(golden->IntArg("x").ok());
}

TEST(GoldenCase, NullOutputsMeanOutAndState) {
  CaseWriter c("gdn_decode");
  FillMatmul(c);
  c.manifest["outputs"] = nullptr;
  EXPECT_NE(GoldenCase::Read(c.Write()).status().message().find("state_out"), std::string::npos);
  c.Add("state_out", DType::kF32, {1}, {0});
  const Result<GoldenCase> golden = GoldenCase::Read(c.Write());
  ASSERT_TRUE(golden.ok()) << golden.status().message();
  EXPECT_EQ(golden->outputs(), (std::vector<std::string>{"out", "state_out"}));
}

TEST(GoldenCase, PassesAndFailsByItsGate) {
  CaseWriter c("matmul");
  FillMatmul(c);
  EXPECT_TRUE(RunCase(c.Write()).value().Passes());
  EXPECT_TRUE(RunCase(c.Write(), "ref").value().Passes());
  c.Add("out", DType::kF32, {1, 1}, {11.001F});
  const Result<ParityReport> report = RunCase(c.Write());
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->Passes());
  EXPECT_EQ(report->rows.at(0).distance.differ, 1);
}

struct BadCase {
  const char* name;
  std::function<void(CaseWriter&)> spoil;
  std::vector<const char*> words;
};

void PrintTo(const BadCase& bad, std::ostream* out) { *out << bad.name; }

class BadGoldenCase : public testing::TestWithParam<BadCase> {};

TEST_P(BadGoldenCase, IsRefusedWithTheThingNamed) {
  CaseWriter c("matmul");
  FillMatmul(c);
  GetParam().spoil(c);
  const Result<ParityReport> report = RunCase(c.Write());
  ASSERT_FALSE(report.ok());
  for (const char* word : GetParam().words) {
    EXPECT_NE(report.status().message().find(word), std::string::npos) << report.status().message();
  }
}

const std::vector<BadCase>& BadCases() {
  static const std::vector<BadCase> cases = {
      {"op", [](CaseWriter& c) { c.manifest["op"] = "conv"; }, {"conv", "want one of", "matmul"}},
      {"no_op", [](CaseWriter& c) { c.manifest["op"] = 3; }, {"no op"}},
      {"no_object", [](CaseWriter& c) { c.manifest = nlohmann::json::array(); }, {"no object"}},
      {"args", [](CaseWriter& c) { c.manifest["args"] = 1; }, {"args"}},
      {"outputs", [](CaseWriter& c) { c.manifest["outputs"] = "out"; }, {"outputs"}},
      {"output_names", [](CaseWriter& c) { c.manifest["outputs"] = {1}; }, {"outputs"}},
      {"no_outputs",
       [](CaseWriter& c) { c.manifest["outputs"] = nlohmann::json::array(); },
       {"outputs"}},
      {"unknown_output", [](CaseWriter& c) { c.manifest["outputs"] = {"x"}; }, {"\"x\"", "none"}},
      {"output_not_made", [](CaseWriter& c) { c.manifest["outputs"] = {"a"}; }, {"makes no", "a"}},
      {"tensors", [](CaseWriter& c) { c.manifest.erase("tensors"); }, {"no tensors"}},
      {"entry", [](CaseWriter& c) { c.manifest["tensors"]["a"] = 1; }, {"\"a\"", "object"}},
      {"entry_keys",
       [](CaseWriter& c) { c.manifest["tensors"]["a"].erase("file"); },
       {"\"a\"", "file"}},
      {"path",
       [](CaseWriter& c) { c.manifest["tensors"]["a"]["file"] = "../a.npy"; },
       {"../a.npy", "folder"}},
      {"no_file", [](CaseWriter& c) { c.manifest["tensors"]["a"]["file"] = "b2.npy"; }, {"b2.npy"}},
      {"dtype", [](CaseWriter& c) { c.manifest["tensors"]["a"]["dtype"] = "f8"; }, {"f8", "bf16"}},
      {"wrong_dtype",
       [](CaseWriter& c) { c.manifest["tensors"]["a"]["dtype"] = "f32"; },
       {"bf16 [1, 2]", "f32"}},
      {"wrong_shape",
       [](CaseWriter& c) {
         c.manifest["tensors"]["a"]["shape"] = {2, 1};
       },
       {"bf16 [1, 2]", "[2, 1]"}},
      {"no_elements",
       [](CaseWriter& c) {
         c.Add("a", DType::kBf16, {int64_t{1} << 40, 0}, {});
       },
       {"tensor \"a\"", "no elements"}},
      {"negative_shape",
       [](CaseWriter& c) { c.manifest["tensors"]["a"]["shape"] = {-1}; },
       {"extents"}},
      {"noise",
       [](CaseWriter& c) {
         c.manifest["noise"] = {{"out", {{"nmse", 1e-5}}}};
       },
       {"noise", "nmse"}},
      {"noise_key",
       [](CaseWriter& c) {
         c.manifest["noise"] = {{"out", {{"nsme", 0}}}};
       },
       {"nsme", "differ"}},
      {"noise_of_nothing",
       [](CaseWriter& c) {
         c.manifest["noise"] = {{"uot", {{"nmse", 0}}}};
       },
       {"uot", "no tensor"}},
      {"no_main_output",
       [](CaseWriter& c) {
         c.manifest["tensors"].erase("out");
         c.manifest["outputs"] = {"a"};
       },
       {"no tensor out"}},
      {"nan",
       [](CaseWriter& c) {
         c.Add("out", DType::kF32, {1, 1}, {std::numeric_limits<float>::quiet_NaN()});
       },
       {"tensor out", "NaN"}},
      {"missing_tensor", [](CaseWriter& c) { c.manifest["tensors"].erase("b"); }, {"tensor b"}},
      {"rank",
       [](CaseWriter& c) {
         c.Add("a", DType::kBf16, {2}, {1, 2});
       },
       {"tensor a", "rank 2"}},
      {"operator_refuses",
       [](CaseWriter& c) {
         c.Add("b", DType::kBf16, {3, 1}, {1, 2, 3});
       },
       {"linear", "[1, 2]"}},
      {"golden_of_another_shape",
       [](CaseWriter& c) {
         c.Add("out", DType::kF32, {1, 2}, {11, 0});
       },
       {"tensor out", "[1, 2]", "[1, 1]"}},
      {"golden_of_integers",
       [](CaseWriter& c) {
         c.Add("out", DType::kI32, {1, 1}, {11});
       },
       {"tensor out", "i32"}},
  };
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Manifests, BadGoldenCase, testing::ValuesIn(BadCases()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(GoldenCase, RefusesAFolderThatIsNotThere) {
  EXPECT_EQ(GoldenCase::Read("/nowhere").status().code(), StatusCode::kNotFound);
}

TEST(GoldenCase, RefusesNumericsOfOtherOps) {
  CaseWriter c("matmul");
  FillMatmul(c);
  const Status status = RunCase(c.Write(), "", "recurrence_f32").status();
  EXPECT_NE(status.message().find("gdn_prefill"), std::string::npos) << status.message();
  EXPECT_NE(ParseNumerics("drop:nothing").status().message().find("drop:a_inverse"),
            std::string::npos);
}

TEST(GoldenCase, RefusesAnImplThatIsNotThere) {
  CaseWriter c("matmul");
  FillMatmul(c);
  EXPECT_EQ(RunCase(c.Write(), "avx9").status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace gdn
