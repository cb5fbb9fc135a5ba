// SPDX-License-Identifier: Apache-2.0
// What gdn run offers to steer an answer.
#include <cmath>

#include "cli_testing.h"

namespace gdn {
namespace {

const std::string kRun = "run -m " + kTiny + " -p 'In the beginning' --temp 0 ";

std::string TextOf(const Json& json) { return json["text"].get<std::string>(); }

TEST_F(Cli, StopStringsEndTheText) {
  const std::string text = TextOf(Json::parse(Gdn(kRun + "-n 40 --json").out));
  ASSERT_GT(text.size(), 40U);
  const std::string stop = text.substr(20, 6);
  const Outcome outcome = Gdn(kRun + "-n 40 --json --stop 'not there' --stop '" + stop + "'");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(TextOf(json), text.substr(0, text.find(stop)));
  EXPECT_EQ(json["finish_reason"], "stop");
  EXPECT_LT(json["tokens"].size(), 40U);
  const Outcome streamed = Gdn(kRun + "-n 40 --stop '" + stop + "'");
  EXPECT_EQ(streamed.out, TextOf(json) + "\n");
  ExpectBadInput(kRun + "--stop ''", {"stop string", "empty"});
}

TEST_F(Cli, BiasesAndPenaltiesChangeTheChoice) {
  const Json plain = Json::parse(Gdn(kRun + "-n 8 --json").out)["tokens"];
  const std::string first = std::to_string(plain[0].get<int>());
  const Json banned =
      Json::parse(Gdn(kRun + "-n 8 --json --logit-bias " + first + "=-100").out)["tokens"];
  EXPECT_EQ(std::count(banned.begin(), banned.end(), plain[0]), 0);
  const Json wanted = Json::parse(
      Gdn(kRun + "-n 5 --json --ignore-eos --logit-bias 77=100 --logit-bias 3=-1").out)["tokens"];
  EXPECT_EQ(wanted, Json(std::vector<int>(5, 77)));
  const Json penalised = Json::parse(
      Gdn(kRun + "-n 6 --json --logit-bias 77=40 --presence-penalty 2 --frequency-penalty 2 "
                 "--repetition-penalty 50")
          .out)["tokens"];
  EXPECT_EQ(penalised[0], 77);
  EXPECT_NE(penalised[1], 77);
  ExpectBadInput(kRun + "--logit-bias 5", {"--logit-bias", "5", "ID=BIAS"});
  ExpectBadInput(kRun + "--logit-bias x=1", {"--logit-bias", "x=1"});
  ExpectBadInput(kRun + "--logit-bias 5=200", {"logit_bias", "200", "[-100, 100]"});
  ExpectBadInput(kRun + "--logit-bias 999999=1", {"999999", "want 0 to"});
  ExpectBadInput(kRun + "--presence-penalty 3", {"presence_penalty", "3", "[-2, 2]"});
  ExpectBadInput(kRun + "--repetition-penalty 0", {"repetition_penalty", "0"});
}

TEST_F(Cli, MinTokensKeepsTheEndAway) {
  // Token 2045 ends a text of models/tiny.
  const std::string run = kRun + "-n 12 --json --logit-bias 2045=100 ";
  EXPECT_EQ(Json::parse(Gdn(run).out)["tokens"], Json(std::vector<int>{2045}));
  const Json json = Json::parse(Gdn(run + "--min-tokens 4").out);
  EXPECT_EQ(json["tokens"].size(), 5U);
  EXPECT_EQ(json["tokens"][4], 2045);
  EXPECT_EQ(json["finish_reason"], "stop");
  ExpectBadInput(run + "--min-tokens -1", {"min", "-1"});
}

TEST_F(Cli, LogProbsAreThoseOfTheLogits) {
  const Outcome outcome = Gdn(kRun + "-n 4 --json --log-probs --top-logits 1024");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["log_probs"].size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    // The largest 1024 of 2048 logits hold nearly all of the sum.
    double sum = 0;
    for (const Json& entry : json["top_logits"][i]) sum += std::exp(entry[1].get<double>());
    const double want = json["top_logits"][i][0][1].get<double>() - std::log(sum);
    EXPECT_NEAR(json["log_probs"][i].get<double>(), want, 0.02);
    EXPECT_LT(json["log_probs"][i].get<double>(), 0);
  }
  ExpectBadInput(kRun + "--log-probs", {"--log-probs", "--json"});
}

TEST_F(Cli, MatrixProductsOfTheVendorAreForItsDevices) {
  ExpectBadInput(kRun + "--device cpu --gemm vendor", {"cpu", "want --gemm own"});
  ExpectBadInput(kRun + "--gemm other", {"--gemm", "other"});
}

}  // namespace
}  // namespace gdn
