// SPDX-License-Identifier: Apache-2.0
// The program as a person or a script meets it: exit codes, stdout, stderr.
#include "cli_testing.h"

#include <sys/stat.h>

namespace gdn {
namespace {

TEST_F(Cli, GreedyRunsAreEqual) {
  const std::string run =
      "run -m " + kTiny + " -p 'In the beginning' -n 64 --temp 0 --json --threads ";
  const Outcome one = Gdn(run + "1");
  const Outcome two = Gdn(run + "2");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  ASSERT_EQ(two.exit_code, 0) << two.err;
  const Json a = Json::parse(one.out);
  const Json b = Json::parse(two.out);
  EXPECT_EQ(a["tokens"], b["tokens"]);
  EXPECT_EQ(a["text"], b["text"]);
  EXPECT_EQ(a["tokens"].size(), 64U);
  EXPECT_EQ(a["finish_reason"], "length");
  EXPECT_EQ(a["device"], "cpu");
  for (const char* key :
       {"load_ms", "prompt_ms", "prompt_tps", "gen_ms", "gen_tps", "peak_bytes"}) {
    EXPECT_GT(a["timings"][key].get<double>(), 0) << key;
  }
  const auto chunk = a["kernels"]["gated_delta_rule_chunk"].get<std::string>();
  EXPECT_TRUE(chunk.starts_with("gated_delta_rule_chunk_bf16__")) << chunk;
}

TEST_F(Cli, TextOfARunIsThatOfItsJson) {
  const std::string run = "run -m " + kTiny + " -p 'And God said' -n 40 --seed 3 ";
  const Outcome plain = Gdn(run);
  const Outcome json = Gdn(run + "--json");
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out, Json::parse(json.out)["text"].get<std::string>() + "\n");
  EXPECT_NE(plain.err.find("tokens/s"), std::string::npos);
  EXPECT_EQ(plain.err.find('\r'), std::string::npos) << "a bar in a pipe";
  EXPECT_EQ(json.err, "");
}

TEST_F(Cli, SeedDecidesTheText) {
  const std::string run = "run -m " + kTiny + " -p 'Now' -n 32 --temp 1.2 --json --seed ";
  const auto tokens = [&](const std::string& seed) {
    return Json::parse(Gdn(run + seed).out)["tokens"];
  };
  EXPECT_EQ(tokens("5"), tokens("5"));
  EXPECT_NE(tokens("5"), tokens("6"));
}

TEST_F(Cli, PromptComesFromAFileOrStdin) {
  const std::filesystem::path prompt = dir_ / "prompt.txt";
  std::ofstream(prompt) << "In the beginning";
  const std::string rest = " -n 8 --temp 0 --json";
  const Json from_text = Json::parse(Gdn("run -m " + kTiny + " -p 'In the beginning'" + rest).out);
  const Json from_file = Json::parse(Gdn("run -m " + kTiny + " -f " + prompt.string() + rest).out);
  const Json from_stdin = Json::parse(Gdn("run -m " + kTiny + rest + " <" + prompt.string()).out);
  EXPECT_EQ(from_file["tokens"], from_text["tokens"]);
  EXPECT_EQ(from_stdin["tokens"], from_text["tokens"]);
}

TEST_F(Cli, PromptMayBeTokenIds) {
  const std::string run = "run -m " + kTiny + " -n 6 --temp 0 --json ";
  const Json from_text = Json::parse(Gdn(run + "-p 'In the beginning'").out);
  const std::filesystem::path ids = dir_ / "ids.txt";
  std::ofstream file(ids);
  for (const Json& id : from_text["prompt_tokens"]) file << id << "\n ";
  file.close();
  EXPECT_EQ(Json::parse(Gdn(run + "--ids " + ids.string()).out)["tokens"], from_text["tokens"]);
  std::ofstream(ids) << "1 x2";
  ExpectBadInput(run + "--ids " + ids.string(), {"token 1", "x2", "decimal"});
  std::ofstream(ids) << "1 999999";
  ExpectBadInput(run + "--ids " + ids.string(), {"999999", "want below"});
  std::ofstream(ids) << " ";
  ExpectBadInput(run + "--ids " + ids.string(), {"prompt is empty"});
}

TEST_F(Cli, TopLogitsBeginWithTheGreedyToken) {
  const std::string run = "run -m " + kTiny + " -p 'And God said' -n 5 --temp 0 --top-logits 3 ";
  const Json json = Json::parse(Gdn(run + "--json").out);
  ASSERT_EQ(json["top_logits"].size(), json["tokens"].size());
  for (size_t i = 0; i < json["tokens"].size(); ++i) {
    const Json& top = json["top_logits"][i];
    ASSERT_EQ(top.size(), 3U);
    EXPECT_EQ(top[0][0], json["tokens"][i]);
    EXPECT_GE(top[0][1], top[1][1]);
    EXPECT_GE(top[1][1], top[2][1]);
  }
  ExpectBadInput(run, {"--top-logits", "--json"});
  ExpectBadInput("run -m " + kTiny + " -p x --json --top-logits -1", {"top logits", "-1"});
}

TEST_F(Cli, PrefillFormIsShown) {
  const auto kernels = [&](const std::string& form) {
    return Json::parse(
        Gdn("run -m " + kTiny + " -p 'a b c' -n 1 --json --prefill " + form).out)["kernels"];
  };
  EXPECT_TRUE(kernels("auto").contains("gated_delta_rule_chunk"));
  EXPECT_TRUE(kernels("chunk").contains("gated_delta_rule_chunk"));
  EXPECT_FALSE(kernels("recurrent").contains("gated_delta_rule_chunk"));
  EXPECT_TRUE(kernels("recurrent").contains("gated_delta_rule_blocked"));
}

TEST_F(Cli, TokenizeThereAndBack) {
  const Outcome there = Gdn("tokenize -m " + kTiny + " --json -p 'In the beginning'");
  ASSERT_EQ(there.exit_code, 0) << there.err;
  std::string ids;
  const Json tokens = Json::parse(there.out)["tokens"];
  for (const int id : tokens) ids += " " + std::to_string(id);
  const Outcome back = Gdn("tokenize -m " + kTiny + " --json --decode" + ids);
  EXPECT_EQ(Json::parse(back.out)["text"], "In the beginning");
}

TEST_F(Cli, ParityPassesFailsAndRefuses) {
  const std::string goldens = std::string(GDN_SOURCE_DIR) + "/parity/goldens/interpreter/";
  const std::string prefill = goldens + "gdn_prefill_bf16_T20_Hk1_Hv2_D64_mid";
  const Outcome pass = Gdn("parity " + prefill + " " + goldens + "l2norm_bf16_16x128/");
  EXPECT_EQ(pass.exit_code, 0) << pass.err;
  EXPECT_TRUE(pass.out.ends_with("\n2 passed, 0 failed\n")) << pass.out;

  const Outcome fail = Gdn("parity --numerics drop:p --json " + prefill);
  EXPECT_EQ(fail.exit_code, 1);
  const Json json = Json::parse(fail.out);
  EXPECT_EQ(json[0]["case"], "gdn_prefill_bf16_T20_Hk1_Hv2_D64_mid");
  EXPECT_EQ(json[0]["op"], "gdn_prefill");
  EXPECT_EQ(json[0]["device"], "cpu");
  EXPECT_EQ(json[0]["impl"], "drop:p");
  EXPECT_EQ(json[0]["pass"], false);
  EXPECT_EQ(json[0]["outputs"][0]["name"], "out");
  EXPECT_GT(json[0]["outputs"][0]["differ"], 100);
  EXPECT_EQ(json[0]["outputs"][0]["pass"], false);

  // A folder that cannot be read does not hide the others, and is not hidden by them.
  const Outcome mixed = Gdn("parity --impl ref " + dir_.string() + " " + prefill);
  EXPECT_EQ(mixed.exit_code, 2);
  EXPECT_TRUE(mixed.out.ends_with("\n1 passed, 1 failed\n")) << mixed.out;
  EXPECT_NE(mixed.out.find("gated_delta_rule_chunk_bf16__ref"), std::string::npos);
  EXPECT_NE(mixed.err.find("manifest.json"), std::string::npos) << mixed.err;
  const Json with_error = Json::parse(Gdn("parity --json " + dir_.string()).out);
  EXPECT_EQ(with_error[0]["pass"], false);
  EXPECT_NE(with_error[0]["error"].get<std::string>().find("manifest.json"), std::string::npos);
  ExpectBadInput("parity", {"folders"});
  ExpectBadInput("parity --numerics drop:x " + prefill, {"drop:x", "drop:a_inverse"});
  ExpectBadInput("parity --device tpu " + prefill, {"tpu", "cpu"});
}

TEST_F(Cli, InspectAndDevicesAndVersion) {
  const Json inspect = Json::parse(Gdn("inspect " + kTiny + " --json").out);
  EXPECT_EQ(inspect["config"]["linear_value_heads"], 6);
  EXPECT_GT(inspect["memory"]["weight_bytes"].get<int64_t>(), 3'000'000);
  EXPECT_FALSE(inspect["tensors"].empty());
  EXPECT_EQ(Json::parse(Gdn("devices --json").out)[0]["name"], "cpu");
  EXPECT_NE(Gdn("--version").out.find("backends: cpu"), std::string::npos);
  EXPECT_EQ(Gdn("--help").exit_code, 0);
  for (const char* command : {"run", "tokenize", "inspect", "devices"}) {
    const Outcome help = Gdn(std::string(command) + " --help");
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(std::ranges::all_of(help.out, [](char c) { return c == '\n' || c >= ' '; }))
        << command;
  }
}

TEST_F(Cli, InspectPlansMemory) {
  const std::string inspect = "inspect " + kTiny + " -c 2048 ";
  const auto memory = [&](const std::string& options) {
    return Json::parse(Gdn(inspect + options + " --json").out)["memory"];
  };
  const Json one = memory("");
  EXPECT_EQ(one["context_tokens"], 2048);
  EXPECT_EQ(one["kv_tokens"], 2048);
  EXPECT_EQ(one["snapshots"], 2 + 4);
  const auto state = one["state_bytes_per_sequence"].get<int64_t>();
  EXPECT_EQ(one["snapshot_interval_tokens"], 512);
  EXPECT_EQ(one["snapshot_bytes_per_1000_tokens"], state * 1000 / 512);
  const auto block = one["kv_bytes_per_64_tokens"].get<int64_t>();
  EXPECT_EQ(one["kv_bytes_per_1000_tokens"], block * 1000 / 64);
  EXPECT_EQ(one["total_bytes"].get<int64_t>(), one["weight_bytes"].get<int64_t>() +
                                                   one["scratch_bytes"].get<int64_t>() +
                                                   state * (1 + 1 + 6) + block * (1 + 32));
  EXPECT_EQ(one["all_states_bytes"], state * (1 + 1 + 6));
  EXPECT_EQ(one["all_kv_bytes"], block * (1 + 32));

  const Json eight = memory("--max-seqs 8");
  EXPECT_EQ(eight["kv_tokens"], 8 * 2048);
  EXPECT_EQ(eight["snapshots"], 16 + 32);
  const auto wanted = eight["total_bytes"].get<int64_t>();
  const Json limited = memory("--max-seqs 8 --memory " + std::to_string(wanted - state));
  EXPECT_LT(limited["snapshots"], 48);
  EXPECT_LE(limited["total_bytes"], wanted - state);
  EXPECT_EQ(memory("--max-seqs 8 --memory 90%"), eight);

  const Outcome text = Gdn(inspect + "--max-seqs 2 --memory 1GiB");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const char* line :
       {"\nmax_seqs                       2\n", "\nkv_tokens                      4096\n",
        "\nsnapshots                      12\n", "\nsnapshot_interval_tokens       512\n"}) {
    EXPECT_NE(text.out.find(line), std::string::npos) << line << " in " << text.out;
  }
  ExpectBadInput(
      inspect + "--memory 1MiB",
      {kTiny, "needs", "weights", "1 sequence and 2 snapshots", "2048 tokens", "1.00 MiB"});
  ExpectBadInput(inspect + "--memory lots", {"lots", "8GiB", "80%"});
  ExpectBadInput(inspect + "--memory 120%", {"120%", "at most 100%"});
  ExpectBadInput(inspect + "--max-seqs 0", {"max_seqs is 0"});
  ExpectBadInput(inspect + "--max-seqs x", {"--max-seqs"});
}

TEST_F(Cli, RefusesBadOptions) {
  const std::string run = "run -m " + kTiny + " -p x ";
  ExpectBadInput("", {"subcommand"});
  ExpectBadInput("fly", {"fly"});
  ExpectBadInput("run -p x", {"--model"});
  ExpectBadInput(run + "--nonsense", {"--nonsense"});
  ExpectBadInput(run + "-n 0", {"0", "at least 1"});
  ExpectBadInput(run + "-n many", {"many"});
  ExpectBadInput(run + "-n ''", {"--predict"});
  ExpectBadInput(run + "--temp ''", {"--temp"});
  ExpectBadInput(run + "--seed -1", {"--seed", "-1"});
  ExpectBadInput(run + "--seed 99999999999999999999", {"--seed"});
  ExpectBadInput(run + "-c 0x10", {"--ctx", "0x10"});
  ExpectBadInput(run + "--temp -1", {"temperature", "-1"});
  ExpectBadInput(run + "--top-p 2", {"top_p", "2"});
  ExpectBadInput(run + "-t 0", {"threads"});
  ExpectBadInput(run + "-c 100000000", {"context", "100000000"});
  ExpectBadInput(run + "--device tpu", {"tpu", "cpu"});  // ollama 14423
  ExpectBadInput(run + "--prefill fast", {"fast", "auto", "chunk", "recurrent"});
  ExpectBadInput(run + "--log-level loud", {"loud"});
  ExpectBadInput(run + "-f " + kTiny + "/config.json", {"--file"});
}

TEST_F(Cli, SaysThatStdoutCannotBeWritten) {
  for (const std::string& command : {std::string("devices"), "run -m " + kTiny + " -p x -n 2",
                                     "tokenize -m " + kTiny + " -p x", "inspect " + kTiny}) {
    const std::string err = (dir_ / "err").string();
    std::string line = "'" GDN_BINARY "' ";
    line.append(command).append(" >/dev/full 2>'").append(err).append("'");
    const int status = std::system(line.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << command;
    EXPECT_NE(Slurp(err).find("stdout cannot be written"), std::string::npos) << command;
  }
}

TEST_F(Cli, RefusesWhatIsNoRegularFile) {
  const std::string model = CopyOfTiny();
  for (const char* name : {"tokenizer.json", "config.json", "model.safetensors"}) {
    const std::string path = model + "/" + name;
    std::filesystem::remove(path);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    ExpectBadInput("run -m " + model + " -p x -n 1", {name});
    std::filesystem::remove(path);
    std::filesystem::copy_file(kTiny + "/" + name, path);
  }
}

TEST_F(Cli, RefusesBadPrompts) {
  ExpectBadInput("run -m " + kTiny + " -p ''", {"prompt is empty"});
  ExpectBadInput("run -m " + kTiny + " </dev/null", {"prompt is empty"});
  ExpectBadInput("run -m " + kTiny + " -f " + (dir_ / "none").string(), {"none"});
  ExpectBadInput("run -m " + kTiny + " -f " + dir_.string(), {dir_.string()});
  ExpectBadInput("run -m " + kTiny + " -p \"$(printf 'a\\377b')\"", {"UTF-8"});
  ExpectBadInput("run -m " + kTiny + " -c 8 -p 'a long text of more than eight tokens, surely so'",
                 {"prompt is", "at most 7"});
}

TEST_F(Cli, RefusesBadCheckpoints) {
  const std::string run = " -p x -n 1";
  ExpectBadInput("run -m " + (dir_ / "none").string() + run, {"none", "config.json"});
  const std::string model = CopyOfTiny();
  std::filesystem::resize_file(model + "/model.safetensors", 1'000'000);
  ExpectBadInput("run -m " + model + run, {"model.safetensors"});
  std::filesystem::resize_file(model + "/model.safetensors", 4);
  ExpectBadInput("run -m " + model + run, {"model.safetensors"});
  std::filesystem::remove(model + "/model.safetensors");
  ExpectBadInput("run -m " + model + run, {"model.safetensors"});
  std::filesystem::copy_file(kTiny + "/model.safetensors", model + "/model.safetensors");
  std::ofstream(model + "/tokenizer.json") << "{\"model\": {\"type\": \"Unigram\"}}";
  ExpectBadInput("run -m " + model + run, {"tokenizer.json"});
  std::ofstream(model + "/config.json") << "{\"architectures\": [\"LlamaForCausalLM\"]}";
  ExpectBadInput("run -m " + model + run, {"config.json", "LlamaForCausalLM"});
}

TEST_F(Cli, RefusesAConfigOfAnotherSize) {
  const std::string model = CopyOfTiny();
  Json config = Json::parse(Slurp(kTiny + "/config.json"));
  config["vocab_size"] = 3000;
  std::ofstream(model + "/config.json") << config.dump();
  ExpectBadInput("run -m " + model + " -p x -n 1", {"embed_tokens.weight", "3000"});
}

}  // namespace
}  // namespace gdn
