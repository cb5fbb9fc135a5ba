// SPDX-License-Identifier: Apache-2.0
// gdn bench and gdn bench-op as a script meets them. No speed is asserted.
#include <set>

#include "cli_testing.h"

namespace gdn {
namespace {

const std::string kConfig = kTiny + "/config.json";
// A small buffer: what is measured is no speed then, and quick.
const std::string kQuick = " -t 2 --buffer-mib 8 ";

void ExpectPositive(const Json& row, std::initializer_list<const char*> keys) {
  for (const char* key : keys) EXPECT_GT(row.at(key).get<double>(), 0) << key;
}

TEST_F(Cli, BenchMeasuresACheckpoint) {
  const Outcome outcome = Gdn("bench -m " + kTiny + kQuick + "-p 70 -n 3 -r 2 --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["name"], "pp70");
  EXPECT_EQ(rows[1]["name"], "tg3");
  for (const Json& row : rows) {
    ExpectPositive(row, {"mean", "median", "pct_peak", "pct_bw", "peak_gflops", "read_gbytes"});
    EXPECT_GE(row["sd"].get<double>(), 0);
    EXPECT_EQ(row["repetitions"], 2);
    EXPECT_EQ(row["threads"], 2);
    EXPECT_EQ(row["dtype"], "bf16");
    EXPECT_EQ(row["prefill"], "chunk");
    EXPECT_FALSE(row.contains("mlp_s"));
  }
}

TEST_F(Cli, BenchMeasuresRandomWeights) {
  const Outcome outcome = Gdn("bench --config " + kConfig + kQuick +
                              "-p 5,66 -n 2 -d 0,65 -r 1 -o json --dtype f32 --layers");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json rows = Json::parse(outcome.out);
  std::vector<std::string> names;
  for (const Json& row : rows) {
    names.push_back(row["name"]);
    EXPECT_EQ(row["dtype"], "f32");
    EXPECT_EQ(row["prefill"], "recurrent");
    EXPECT_EQ(row["model"], kConfig);
    ExpectPositive(row, {"linear_attention_s", "full_attention_s", "mlp_s", "head_s"});
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"pp5", "pp66", "tg2", "pp5@d65", "pp66@d65", "tg2@d65"}));
}

TEST_F(Cli, BenchPrintsTables) {
  const Outcome md = Gdn("bench --config " + kConfig + kQuick + "-p 4 -n 0 -r 1");
  ASSERT_EQ(md.exit_code, 0) << md.err;
  EXPECT_TRUE(md.out.starts_with("| name ")) << md.out;
  EXPECT_NE(md.out.find("| pp4 "), std::string::npos) << md.out;
  EXPECT_EQ(std::ranges::count(md.out, '\n'), 3);
  EXPECT_EQ(md.err, "") << "progress in a pipe";
  const Outcome csv = Gdn("bench --config " + kConfig + kQuick + "-p 0 -n 1 -r 1 -o csv");
  ASSERT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_TRUE(csv.out.starts_with("name,mean,sd,median,pct_peak,pct_bw,")) << csv.out;
  EXPECT_NE(csv.out.find("\n\"tg1\","), std::string::npos) << csv.out;
}

TEST_F(Cli, BenchMeasuresTheSecondTurn) {
  const Outcome outcome =
      Gdn("bench -m " + kTiny + " -t 2 --turns -p 70,300 -n 40 --message 10 -r 2 --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const Json rows = Json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["name"], "turns70+40+10");
  EXPECT_EQ(rows[0]["cached"], 64);
  EXPECT_EQ(rows[0]["processed"], 6 + 40 + 10);
  EXPECT_EQ(rows[1]["name"], "turns300+40+10");
  EXPECT_EQ(rows[1]["cached"], 256);
  EXPECT_EQ(rows[1]["processed"], 44 + 40 + 10);
  for (const Json& row : rows) ExpectPositive(row, {"first_ms", "second_ms", "ratio"});
  const Outcome md = Gdn("bench --config " + kConfig + " -t 2 --turns -p 65 -n 3 -r 1");
  EXPECT_NE(md.out.find("| turns65+3+32 "), std::string::npos) << md.out;
  const std::string turns = "bench -m " + kTiny + " --turns ";
  ExpectBadInput(turns + "-d 3", {"--turns", "-d"});
  ExpectBadInput(turns + "--layers", {"--turns", "--layers"});
  ExpectBadInput(turns + "-n 0", {"--turns", "at least 1"});
  ExpectBadInput(turns + "--message 0", {"--message"});
  ExpectBadInput("bench -m " + kTiny + " --message 5", {"--message", "--turns"});
  ExpectBadInput(turns + "-p 4000000", {"4000161", "the model's"});
}

TEST_F(Cli, BenchRefusesBadOptions) {
  const std::string bench = "bench -m " + kTiny;
  ExpectBadInput("bench", {"-m DIR", "--config FILE"});
  ExpectBadInput(bench + " --config " + kConfig, {"-m DIR", "--config FILE"});
  ExpectBadInput(bench + " -p 0 -n 0", {"-p", "-n"});
  ExpectBadInput(bench + " -p 12,x", {"-p", "x"});
  ExpectBadInput(bench + " -p -3", {"-3"});
  ExpectBadInput(bench + " -d 1.5", {"-d", "1.5"});
  ExpectBadInput(bench + " -n 99999999999999999999", {"-n", "99999999999999999999"});
  ExpectBadInput(bench + " -p 512 -d 4000000", {"4000512", "at most the model's"});
  ExpectBadInput(bench + " -r 0", {"repetitions"});
  ExpectBadInput(bench + " -t 0", {"threads"});
  ExpectBadInput(bench + " -o xml", {"xml", "md", "json", "csv"});
  ExpectBadInput(bench + " --prefill fast", {"fast"});
  ExpectBadInput(bench + " --device tpu", {"tpu", "cpu"});
  ExpectBadInput("bench --config " + kConfig + " --dtype int8", {"int8", "bf16"});
  ExpectBadInput("bench -m " + (dir_ / "none").string(), {"none", "config.json"});
  ExpectBadInput("bench --config " + (dir_ / "none").string(), {"none"});
  ExpectBadInput("bench --config " + dir_.string(), {dir_.string()});
  std::ofstream(dir_ / "bad.json") << "{\"architectures\": [\"LlamaForCausalLM\"]}";
  ExpectBadInput("bench --config " + (dir_ / "bad.json").string(),
                 {"bad.json", "LlamaForCausalLM"});
}

TEST_F(Cli, BenchRefusesAModelThatDoesNotFit) {
  Json config = Json::parse(Slurp(kConfig));
  config["vocab_size"] = 4'000'000;
  config["hidden_size"] = 1 << 16;
  std::ofstream(dir_ / "large.json") << config.dump();
  ExpectBadInput("bench --config " + (dir_ / "large.json").string() + " -p 1 -n 0",
                 {"large.json", "needs", "of memory"});
}

TEST_F(Cli, BenchOpChecksThenMeasures) {
  const std::string op =
      "bench-op gated_delta_rule --tokens 70 --value-heads 4 --key-heads 2 "
      "--head-dim 32 -r 2 --json" +
      kQuick + " --form ";
  for (const std::string form : {"chunk", "recurrent", "decode"}) {
    std::string command = op;
    command += form;
    const Outcome outcome = Gdn(command);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    const Json row = Json::parse(outcome.out).at(0);
    EXPECT_EQ(row["name"], "gated_delta_rule");
    EXPECT_EQ(row["check"], "pass");
    EXPECT_TRUE(row["shape"].get<std::string>().starts_with(form + " bf16")) << row["shape"];
    EXPECT_NE(row["shape"].get<std::string>().find("70 H 2 HV 4 D 32"), std::string::npos);
    const std::string kernel = form == "decode"  ? "recurrent"
                               : form == "chunk" ? "chunk"
                                                 : "blocked";
    EXPECT_TRUE(row["kernel"].get<std::string>().starts_with("gated_delta_rule_" + kernel));
    ExpectPositive(row, {"ms", "gflops", "gbytes", "pct_peak", "pct_bw", "peak_gflops"});
  }
}

TEST_F(Cli, BenchOpMeasuresOnADevice) {
  const std::string op = "bench-op silu_and_mul --tokens 3 --intermediate 40 -r 1 --json --device ";
  const Outcome outcome = Gdn(op + "emu:32");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json row = Json::parse(outcome.out).at(0);
  EXPECT_EQ(row["device"], "emu:32");
  EXPECT_EQ(row["kernel"], "silu_and_mul_bf16__gpu");
  ExpectPositive(row, {"ms", "gbytes", "pct_copy", "copy_gbytes"});
}

TEST_F(Cli, BenchOpForcesAKernelAndPrintsTables) {
  const std::string op = "bench-op linear --rows 3 --cols 200 --outs 400 -r 1" + kQuick;
  const Outcome md = Gdn(op + "--impl ref");
  ASSERT_EQ(md.exit_code, 0) << md.err;
  EXPECT_NE(md.out.find("bf16 M 3 N 400 K 200"), std::string::npos) << md.out;
  EXPECT_NE(md.out.find("__ref"), std::string::npos) << md.out;
  const Outcome csv = Gdn(op + "--dtype f16 -o csv");
  ASSERT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_TRUE(csv.out.starts_with("name,shape,check,ms,")) << csv.out;
  EXPECT_NE(csv.out.find("\"f16 M 3 N 400 K 200\""), std::string::npos) << csv.out;
}

TEST_F(Cli, BenchOpKnowsEveryOperator) {
  const Outcome outcome =
      Gdn("bench-op all --preset 35b-a3b --tokens 5 --hidden 64 --vocab 300 "
          "--intermediate 96 --context 64 -r 1 --json" +
          kQuick);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::set<std::string> names;
  for (const Json& row : Json::parse(outcome.out)) names.insert(row["name"]);
  EXPECT_EQ(names.size(), 15U);
  EXPECT_TRUE(names.contains("moe_combine"));
}

TEST_F(Cli, BenchOpRefusesWhatDoesNotFit) {
  ExpectBadInput("bench-op linear --rows 1 --cols 1048576 --outs 1048576 -r 1" + kQuick,
                 {"memory", "available"});
  ExpectBadInput("bench-op linear --rows 1048576 --cols 1048576 --outs 1048576 -r 1" + kQuick,
                 {"memory", "available"});
  ExpectBadInput("bench-op embedding --vocab 16777216 --hidden 1048576 -r 1" + kQuick,
                 {"memory", "available"});
  ExpectBadInput("bench-op linear --rows -9223372036854775808",
                 {"--rows", "-9223372036854775808", "at least 1"});
  ExpectBadInput("bench -m " + kTiny + " --seed 3", {"--seed", "--config"});
}

TEST_F(Cli, BenchOpChecksStatesOfF16AsTheirOutputs) {
  const std::string op = "bench-op gated_delta_rule --tokens 64 -r 1" + kQuick + " --dtype ";
  for (const char* dtype : {"f16", "bf16", "f32"}) {
    const Outcome outcome = Gdn(op + dtype);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
}

TEST_F(Cli, BenchOpRefusesBadOptions) {
  ExpectBadInput("bench-op", {"name"});
  ExpectBadInput("bench-op matmul", {"matmul", "linear", "gated_delta_rule", "moe_combine", "all"});
  ExpectBadInput("bench-op linear --preset 900b", {"900b", "0.8b", "4b", "27b", "35b-a3b"});
  ExpectBadInput("bench-op linear --tokens 0", {"--tokens", "0"});
  ExpectBadInput("bench-op linear --cols 99999999999", {"--cols", "99999999999"});
  ExpectBadInput("bench-op gated_delta_rule --value-heads 15", {"--value-heads", "15", "multiple"});
  ExpectBadInput("bench-op gated_delta_rule --head-dim 512", {"--head-dim", "512", "256"});
  ExpectBadInput("bench-op gated_delta_rule --form fast", {"fast"});
  ExpectBadInput("bench-op moe_combine --top-k 300", {"--top-k", "300"});
  ExpectBadInput("bench-op linear --dtype i8", {"i8"});
  ExpectBadInput("bench-op linear --impl turbo", {"turbo"});
  ExpectBadInput("bench-op linear --rows x", {"x"});
  ExpectBadInput("bench-op linear -r 0", {"repetitions"});
  ExpectBadInput("bench-op linear --buffer-mib -1", {"buffer"});
}

}  // namespace
}  // namespace gdn
