// SPDX-License-Identifier: Apache-2.0
// The whole model against transformers in float32 (parity/oracle/model_logits.py), on small random
// checkpoints that are made again here from their seeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/str.h"
#include "base/thread_pool.h"
#include "io/json_file.h"
#include "io/read_file.h"
#include "io/temp_folder.h"
#include "model/random_checkpoint.h"
#include "model_testing.h"

namespace gdn {
namespace {

constexpr const char* kDataDir = GDN_SOURCE_DIR "/tests/data/model_logits/";
constexpr size_t kMaxFileBytes = size_t{64} << 20;

std::string ReadData(const std::string& path) {
  auto bytes = ReadFile(path, kMaxFileBytes);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? std::move(bytes).value() : std::string();
}

// Bit by bit, as zlib.crc32.
uint32_t Crc32(std::string_view bytes) {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) * 0xEDB88320);
    table[i] = value;
  }
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<uint8_t>(c)) & 0xFF];
  return ~crc;
}

const nlohmann::json& Reference() {
  static const nlohmann::json reference =
      ReadJsonFile(std::string(kDataDir) + "reference.json").value();
  return reference;
}

const nlohmann::json& Case(const std::string& name) {
  const nlohmann::json& cases = Reference().at("cases");
  return *std::find_if(cases.begin(), cases.end(),
                       [&](const nlohmann::json& c) { return c.at("name") == name; });
}

DType DTypeOfCase(const nlohmann::json& c) {
  const std::string name = c.at("dtype");
  return name == "bf16" ? DType::kBf16 : name == "f16" ? DType::kF16 : DType::kF32;
}

std::string ConfigText(const nlohmann::json& c) {
  return ReadData(StrCat(kDataDir, c.at("config").get<std::string>(), ".json"));
}

// A checkpoint with the bytes that the reference was computed from.
void MakeCheckpoint(const nlohmann::json& c, const TempFolder& folder) {
  RandomCheckpointOptions options;
  options.config_json = ConfigText(c);
  options.out_dir = folder.path();
  options.dtype = DTypeOfCase(c);
  options.seed = c.at("seed");
  options.a_log_f32 = c.at("a_log_f32");
  const Status status = WriteRandomCheckpoint(options);
  ASSERT_TRUE(status.ok()) << status.message();
  const std::string weights = ReadData(folder.File("model.safetensors"));
  ASSERT_EQ(weights.size(), c.at("weight_bytes").get<size_t>());
  ASSERT_EQ(Crc32(weights), c.at("weight_crc32").get<uint32_t>())
      << "other weights than the reference's";
}

bool RanKernel(const Model& model, std::string_view prefix) {
  const auto entries = model.kernels().entries();
  return std::any_of(entries.begin(), entries.end(), [&](const KernelLog::Entry& entry) {
    return std::string_view(entry.kernel).starts_with(prefix);
  });
}

TEST(ModelLogitsReference, HasEveryShapeInEveryDType) {
  std::set<std::pair<int64_t, std::string>> ratios;
  std::set<bool> tied;
  std::set<GateActivation> gates;
  std::set<std::string> architectures;
  bool has_24_over_4 = false;
  bool has_unequal_head_dims = false;
  for (const nlohmann::json& c : Reference().at("cases")) {
    const auto config = ParseModelConfig(ConfigText(c), "config");
    ASSERT_TRUE(config.ok()) << config.status().message();
    EXPECT_GE(config->linear_num_key_heads, 2);
    ratios.emplace(config->linear_num_value_heads / config->linear_num_key_heads, c.at("dtype"));
    tied.insert(config->tie_word_embeddings);
    gates.insert(config->output_gate);
    architectures.insert(config->architecture);
    has_24_over_4 |= config->num_heads == 24 && config->num_kv_heads == 4;
    has_unequal_head_dims |= config->linear_key_head_dim != config->linear_value_head_dim;
  }
  EXPECT_EQ(ratios.size(), 9U) << "ratios of value heads 1, 2, 3 in f32, f16, bf16";
  EXPECT_EQ(tied.size(), 2U);
  EXPECT_EQ(gates.size(), 2U);
  EXPECT_EQ(architectures.size(), 2U);
  EXPECT_TRUE(has_24_over_4);
  EXPECT_TRUE(has_unequal_head_dims);
}

// The worst |ours - reference| of any position, in units of that position's largest logit.
double WorstError(const TestLogits& ours, std::span<const float> reference) {
  double worst = 0;
  for (int64_t t = 0; t < ours.rows(); ++t) {
    const std::span<const float> row = ours.row(t);
    const auto wanted = reference.subspan(static_cast<size_t>(t) * row.size(), row.size());
    double error = 0;
    double largest = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      if (!std::isfinite(row[i])) return HUGE_VAL;
      error = std::max(error, std::abs(static_cast<double>(row[i]) - wanted[i]));
      largest = std::max(largest, std::abs(static_cast<double>(wanted[i])));
    }
    worst = std::max(worst, error / largest);
  }
  return worst;
}

class ModelLogitsF32
    : public ::testing::TestWithParam<std::tuple<std::string, PrefillMode, std::string>> {};

TEST_P(ModelLogitsF32, MatchTheReferenceAtEveryPosition) {
  const auto& [name, prefill, impl] = GetParam();
  const nlohmann::json& c = Case(name);
  const TempFolder folder;
  ASSERT_NO_FATAL_FAILURE(MakeCheckpoint(c, folder));
  const std::vector<int32_t> prompt = c.at("prompt");
  const auto length = static_cast<int64_t>(prompt.size());
  ASSERT_GT(length, 2 * 64) << "a third chunk";
  const std::string bytes = ReadData(kDataDir + c.at("logits").get<std::string>());
  std::vector<float> reference(bytes.size() / sizeof(float));
  std::memcpy(reference.data(), bytes.data(), bytes.size());

  ThreadPool pool(1);
  const RunLimits limits = TestLimits(1, length);
  const auto model = LoadTestModel(folder.path(), {.prefill = prefill, .impl = impl}, limits, pool);
  ASSERT_NE(model, nullptr);
  // All of it as a prompt, and half of it followed by decode steps; the slow kernels once, with the
  // third chunk begun.
  const bool slow = !impl.empty();
  const std::vector<int64_t> splits =
      slow ? std::vector<int64_t>{2 * 64 + 1} : std::vector<int64_t>{length, length / 2};
  for (const int64_t num_prompt_tokens : splits) {
    TestSequence sequence = MakeTestSequence(limits, 0, prompt);
    const TestLogits& ours = RunAlone(*model, sequence, {&num_prompt_tokens, 1});
    ASSERT_EQ(ours.values.size(), reference.size());
    const double worst = WorstError(ours, reference);
    EXPECT_LE(worst, 1e-4) << num_prompt_tokens << " prompt tokens";
    std::printf("%3d prompt tokens: worst error %.2g of the largest logit\n",
                static_cast<int>(num_prompt_tokens), worst);
  }
  EXPECT_EQ(RanKernel(*model, "gated_delta_rule_chunk"), prefill == PrefillMode::kChunk);
  EXPECT_TRUE(RanKernel(*model, "gated_delta_rule_recurrent"));
}

using F32Param = ModelLogitsF32::ParamType;

std::string NameOfF32(const ::testing::TestParamInfo<F32Param>& param) {
  const auto& [name, prefill, impl] = param.param;
  return StrCat(name, "_", Name(prefill), impl.empty() ? "" : "_", impl);
}

INSTANTIATE_TEST_SUITE_P(
    All, ModelLogitsF32,
    ::testing::Combine(::testing::Values("r1_tied_f32", "r2_wrapper_f32", "r3_heads24_f32"),
                       ::testing::Values(PrefillMode::kAuto, PrefillMode::kChunk),
                       ::testing::Values("", "ref")),
    NameOfF32);

// The distance between neighbouring numbers of a 16-bit dtype around x.
double UlpAt(double x, DType dtype) {
  return std::ldexp(1.0, std::ilogb(x) - (dtype == DType::kBf16 ? 7 : 10));
}

struct GreedyCounts {
  int cases = 0;
  int steps = 0;
  int near_ties = 0;            // steps whose two best logits are within 2 ulp
  int near_ties_other_way = 0;  // where we then chose another id
  int wrong = 0;                // other steps where we chose another id
  double squared_ulp = 0;       // of the errors of the best logits, summed
  double own_squared_ulp = 0;   // the same of transformers in 16 bits
};

// Of 16-bit forwards, errors of 1 to 3 ulp are the rule (transformers' own too), so the reference
// has no step whose two best logits are from 2 to 8 ulp apart.
constexpr double kNearTieUlp = 2;
constexpr double kClearUlp = 8;
// Our rounding points are vLLM's, not transformers'.
constexpr double kMaxRmsOfOwn = 1.5;

void CompareGreedy(Model& model, const RunLimits& limits, const nlohmann::json& sequence_json,
                   GreedyCounts& counts) {
  std::vector<int32_t> tokens = sequence_json.at("prompt");
  const auto num_prompt_tokens = static_cast<int64_t>(tokens.size());
  const std::vector<int32_t> fed = sequence_json.at("fed");
  const std::vector<int32_t> ids = sequence_json.at("ids");
  const std::vector<float> best = sequence_json.at("best");
  const std::vector<float> second = sequence_json.at("second");
  tokens.insert(tokens.end(), fed.begin(), fed.end() - 1);
  TestSequence sequence = MakeTestSequence(limits, 0, tokens);
  const TestLogits& logits = RunAlone(model, sequence, {&num_prompt_tokens, 1});
  ASSERT_EQ(logits.rows(), static_cast<int64_t>(tokens.size()));
  for (size_t step = 0; step < ids.size(); ++step) {
    const auto row = logits.row(num_prompt_tokens - 1 + static_cast<int64_t>(step));
    const double ulp = UlpAt(std::max(std::abs(best[step]), std::abs(second[step])), model.dtype());
    const double gap_ulp = (static_cast<double>(best[step]) - second[step]) / ulp;
    const int32_t ours = ArgMax(row);
    const auto of_wanted = static_cast<double>(row[static_cast<size_t>(ids[step])]);
    const double error_ulp = std::abs(of_wanted - best[step]) / ulp;
    ++counts.steps;
    counts.squared_ulp += error_ulp * error_ulp;
    if (gap_ulp <= kNearTieUlp) {
      ++counts.near_ties;
      counts.near_ties_other_way += ours != ids[step];
      continue;
    }
    EXPECT_GE(gap_ulp, kClearUlp) << "a reference step that roundings would decide";
    if (ours == ids[step]) continue;
    ++counts.wrong;
    ADD_FAILURE() << "step " << step << " of " << num_prompt_tokens << " prompt tokens: id " << ours
                  << ", reference " << ids[step] << "; gap of the reference " << gap_ulp
                  << " ulp, ours "
                  << (of_wanted - static_cast<double>(row[static_cast<size_t>(ours)])) / ulp
                  << " ulp, error of the best logit " << error_ulp << " ulp";
  }
}

class ModelGreedy : public ::testing::TestWithParam<PrefillMode> {};

TEST_P(ModelGreedy, ChoosesTheIdsOfTheReference) {
  GreedyCounts counts;
  ThreadPool pool(1);
  for (const nlohmann::json& c : Reference().at("cases")) {
    const DType dtype = DTypeOfCase(c);
    if (dtype == DType::kF32) continue;
    SCOPED_TRACE(c.at("name").get<std::string>());
    const TempFolder folder;
    ASSERT_NO_FATAL_FAILURE(MakeCheckpoint(c, folder));
    const RunLimits limits = TestLimits(1, 256);
    const auto model = LoadTestModel(folder.path(), {.prefill = GetParam()}, limits, pool);
    ASSERT_NE(model, nullptr);
    ASSERT_EQ(model->dtype(), dtype);
    ++counts.cases;
    const int steps_before = counts.steps;
    for (const nlohmann::json& sequence : c.at("sequences")) {
      ASSERT_NO_FATAL_FAILURE(CompareGreedy(*model, limits, sequence, counts));
    }
    const double own = c.at("own_rms_ulp");
    counts.own_squared_ulp += own * own * (counts.steps - steps_before);
    EXPECT_EQ(RanKernel(*model, "gated_delta_rule_chunk"), GetParam() == PrefillMode::kChunk);
  }
  const double rms = std::sqrt(counts.squared_ulp / counts.steps);
  const double own_rms = std::sqrt(counts.own_squared_ulp / counts.steps);
  std::printf(
      "%d steps of %d cases: %d have a near tie (%.2f %%), of which %d went the other way; %d "
      "wrong; rms error of the best logit %.2f ulp, transformers' own %.2f\n",
      counts.steps, counts.cases, counts.near_ties, 100.0 * counts.near_ties / counts.steps,
      counts.near_ties_other_way, counts.wrong, rms, own_rms);
  EXPECT_EQ(counts.cases, 6);
  EXPECT_EQ(counts.steps, 6 * 256);
  EXPECT_EQ(counts.wrong, 0);
  EXPECT_LT(counts.near_ties, 0.05 * counts.steps);
  EXPECT_LE(rms, kMaxRmsOfOwn * own_rms);
}

INSTANTIATE_TEST_SUITE_P(All, ModelGreedy,
                         ::testing::Values(PrefillMode::kChunk, PrefillMode::kRecurrent),
                         [](const auto& param) { return Name(param.param); });

}  // namespace
}  // namespace gdn
