// SPDX-License-Identifier: Apache-2.0
#include "model/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "io/read_file.h"
#include "io/temp_folder.h"

namespace gdn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

nlohmann::json Flat() {
  return {{"architectures", {"Qwen3_5ForCausalLM"}},
          {"vocab_size", 320},
          {"hidden_size", 128},
          {"num_hidden_layers", 8}};
}

nlohmann::json Nested() {
  nlohmann::json text = Flat();
  text.erase("architectures");
  return {{"architectures", {"Qwen3_5ForConditionalGeneration"}}, {"text_config", text}};
}

Result<ModelConfig> Parse(const nlohmann::json& json) {
  return ParseModelConfig(json.dump(), "c.json");
}

ModelConfig Good(const nlohmann::json& json) {
  const auto config = Parse(json);
  EXPECT_TRUE(config.ok()) << config.status().message();
  return config.ok() ? *config : ModelConfig{};
}

// The error of a flat configuration with one key changed.
Status ErrorWith(const std::string& key, const nlohmann::json& value) {
  nlohmann::json json = Flat();
  json[key] = value;
  Status status = Parse(json).status();
  EXPECT_THAT(status.message(), HasSubstr("c.json: "));
  return status;
}

TEST(ModelConfig, HasTheReferencesDefaults) {
  const ModelConfig c = Good({{"architectures", {"Qwen3_5ForCausalLM"}}});
  EXPECT_EQ(c.architecture, "Qwen3_5ForCausalLM");
  EXPECT_EQ(c.vocab_size, 248320);
  EXPECT_EQ(c.hidden_size, 4096);
  EXPECT_EQ(c.intermediate_size, 12288);
  EXPECT_EQ(c.num_layers, 32);
  EXPECT_EQ(c.num_heads, 16);
  EXPECT_EQ(c.num_kv_heads, 4);
  EXPECT_EQ(c.head_dim, 256);
  EXPECT_EQ(c.max_positions, 32768);
  EXPECT_EQ(c.rms_norm_eps, 1e-6F);
  EXPECT_FALSE(c.tie_word_embeddings);
  EXPECT_TRUE(c.attn_output_gate);
  EXPECT_EQ(c.rope_theta, 10000);
  EXPECT_EQ(c.rotary_dim, 64);
  EXPECT_EQ(c.conv_kernel, 4);
  EXPECT_EQ(c.linear_num_key_heads, 16);
  EXPECT_EQ(c.linear_num_value_heads, 32);
  EXPECT_EQ(c.linear_key_head_dim, 128);
  EXPECT_EQ(c.linear_value_head_dim, 128);
  EXPECT_EQ(c.output_gate, GateActivation::kSilu);
  EXPECT_EQ(c.CountLayers(LayerKind::kFullAttention), 8);
  EXPECT_EQ(c.layers[3], LayerKind::kFullAttention);
  EXPECT_EQ(c.layers[4], LayerKind::kLinearAttention);
  EXPECT_TRUE(c.eos_token_ids.empty());
  EXPECT_FALSE(c.bos_token_id.has_value());
  EXPECT_EQ(c.num_mtp_layers, 0);
  EXPECT_EQ(c.conv_channels(), 2 * 16 * 128 + 32 * 128);
  EXPECT_EQ(c.q_proj_size(), 2 * 16 * 256);
  EXPECT_EQ(c.kv_size(), 4 * 256);
}

TEST(ModelConfig, ReadsRopeWhereverItIs) {
  nlohmann::json json = Flat();
  json["rope_theta"] = 5000;
  json["partial_rotary_factor"] = 0.5;
  json["rope_scaling"] = nullptr;
  EXPECT_EQ(Good(json).rope_theta, 5000);
  EXPECT_EQ(Good(json).rotary_dim, 128);
  json["rope_scaling"] = {{"type", "mrope"}, {"mrope_section", {11, 11, 10}}};
  EXPECT_EQ(Good(json).rotary_dim, 128);
  json["rope_parameters"] = {{"rope_theta", 1e7}, {"rope_type", "default"}};
  EXPECT_EQ(Good(json).rope_theta, 1e7);
  EXPECT_EQ(Good(json).rotary_dim, 128);
  json["rope_parameters"]["partial_rotary_factor"] = 1;
  EXPECT_EQ(Good(json).rotary_dim, 256);
}

TEST(ModelConfig, ReadsAWrapper) {
  nlohmann::json json = Nested();
  json["tie_word_embeddings"] = true;
  json["eos_token_id"] = 7;
  json["hidden_size"] = "the wrapper's own";
  ModelConfig c = Good(json);
  EXPECT_EQ(c.architecture, "Qwen3_5ForConditionalGeneration");
  EXPECT_EQ(c.hidden_size, 128);
  EXPECT_TRUE(c.tie_word_embeddings);
  EXPECT_THAT(c.eos_token_ids, ElementsAre(7));
  json["text_config"]["tie_word_embeddings"] = false;
  json["text_config"]["eos_token_id"] = {9, 8, 9};
  json["text_config"]["mtp_num_hidden_layers"] = 1;
  json["text_config"]["bos_token_id"] = 3;
  c = Good(json);
  EXPECT_FALSE(c.tie_word_embeddings) << "the text model's own word counts";
  EXPECT_THAT(c.eos_token_ids, ElementsAre(9, 8));
  EXPECT_EQ(c.bos_token_id, 3);
  EXPECT_EQ(c.num_mtp_layers, 1);
  EXPECT_EQ(c.layers.size(), 8U);
}

TEST(ModelConfig, ReadsLayerKinds) {
  nlohmann::json json = Flat();
  json["full_attention_interval"] = 3;
  EXPECT_EQ(Good(json).CountLayers(LayerKind::kFullAttention), 2);
  json["num_hidden_layers"] = 2;
  json["layer_types"] = {"full_attention", "linear_attention"};
  EXPECT_THAT(Good(json).layers,
              ElementsAre(LayerKind::kFullAttention, LayerKind::kLinearAttention));
  json["layer_types"] = {"full_attention"};
  EXPECT_THAT(Parse(json).status().message(),
              HasSubstr("layer_types is an array of 1, must be one kind for each of the 2 layers"));
  json["layer_types"] = {"full_attention", "sliding_attention"};
  EXPECT_EQ(Parse(json).status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(Parse(json).status().message(), HasSubstr("layer 1 is \"sliding_attention\""));
}

TEST(ModelConfig, ReadsTheOutputGate) {
  nlohmann::json json = Flat();
  json["output_gate_type"] = "swish";
  EXPECT_EQ(Good(json).output_gate, GateActivation::kSilu);
  json["output_gate_type"] = "sigmoid";
  EXPECT_EQ(Good(json).output_gate, GateActivation::kSigmoid);
  EXPECT_THAT(ErrorWith("output_gate_type", "tanh").message(), HasSubstr("\"tanh\", supported"));
}

TEST(ModelConfig, NamesUnknownArchitectures) {
  for (const char* name : {"Qwen3_5MoeForCausalLM", "Qwen3_5MoeForConditionalGeneration",
                           "Qwen3NextForCausalLM", "LlamaForCausalLM"}) {
    const Status status = ErrorWith("architectures", {name});
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr(name), HasSubstr("supported are Qwen3_5ForCausalLM")));
  }
  EXPECT_THAT(ErrorWith("architectures", nullptr).message(), HasSubstr("architectures is absent"));
  EXPECT_THAT(ErrorWith("architectures", "Qwen3_5ForCausalLM").message(),
              HasSubstr("must be an array of strings"));
  nlohmann::json json = Flat();
  json.erase("architectures");
  json["model_type"] = "qwen3_5_text";
  EXPECT_EQ(Good(json).architecture, "Qwen3_5ForCausalLM");
}

TEST(ModelConfig, RefusesWhatItDoesNotRun) {
  const nlohmann::json yarn = {{"rope_type", "yarn"}};
  const nlohmann::json quantized = {{"quant_method", "fp8"}};
  const std::vector<std::pair<const char*, nlohmann::json>> cases = {
      {"attention_bias", true}, {"qkv_bias", true},
      {"layer_scale", true},    {"hidden_act", "gelu"},
      {"num_experts", 8},       {"rope_parameters", yarn},
      {"rope_scaling", yarn},   {"quantization_config", quantized}};
  for (const auto& [key, value] : cases) {
    const Status status = ErrorWith(key, value);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << key;
    EXPECT_THAT(status.message(), HasSubstr(key));
  }
  nlohmann::json json = Nested();
  json["quantization_config"] = quantized;
  EXPECT_EQ(Parse(json).status().code(), StatusCode::kUnsupported);
}

TEST(ModelConfig, BoundsEveryNumber) {
  for (const char* key :
       {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
        "num_attention_heads", "num_key_value_heads", "head_dim", "max_position_embeddings",
        "linear_conv_kernel_dim", "linear_key_head_dim", "linear_value_head_dim",
        "linear_num_key_heads", "linear_num_value_heads", "full_attention_interval"}) {
    for (const nlohmann::json& value :
         {nlohmann::json(0), nlohmann::json(-1), nlohmann::json(1LL << 40),
          nlohmann::json(18446744073709551615ULL), nlohmann::json(4.0), nlohmann::json("4"),
          nlohmann::json(true), nlohmann::json::array(), nlohmann::json::object()}) {
      const Status status = ErrorWith(key, value);
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << key << value;
      EXPECT_THAT(status.message(), AllOf(HasSubstr(key), HasSubstr("must be an integer from")));
    }
  }
  for (const nlohmann::json& eps :
       {nlohmann::json(0), nlohmann::json(1), nlohmann::json(-1e-6), nlohmann::json("1e-6")}) {
    EXPECT_THAT(ErrorWith("rms_norm_eps", eps).message(), HasSubstr("rms_norm_eps is"));
  }
  EXPECT_THAT(ErrorWith("rope_theta", 0).message(), HasSubstr("rope_theta is 0"));
  EXPECT_THAT(ErrorWith("partial_rotary_factor", 1.5).message(), HasSubstr("from 0 to 1"));
  EXPECT_THAT(ErrorWith("partial_rotary_factor", 0.001).message(), HasSubstr("it makes 0"));
  EXPECT_THAT(ErrorWith("partial_rotary_factor", 0.254).message(), HasSubstr("it makes 65"));
  EXPECT_THAT(ErrorWith("linear_conv_kernel_dim", 5).message(), HasSubstr("from 2 to 4"));
  EXPECT_THAT(ErrorWith("tie_word_embeddings", 1).message(), HasSubstr("must be true or false"));
}

TEST(ModelConfig, ChecksThatHeadsDivide) {
  EXPECT_THAT(ErrorWith("num_key_value_heads", 3).message(),
              HasSubstr("num_attention_heads is 16, must be a multiple of num_key_value_heads, 3"));
  EXPECT_THAT(ErrorWith("linear_num_value_heads", 24).message(),
              HasSubstr("linear_num_value_heads is 24, must be a multiple of"));
}

TEST(ModelConfig, ChecksTokenIds) {
  EXPECT_THAT(ErrorWith("eos_token_id", 320).message(), HasSubstr("must be an id from 0 to 319"));
  EXPECT_THAT(ErrorWith("eos_token_id", {1, -1}).message(), HasSubstr("eos_token_id has -1"));
  EXPECT_THAT(ErrorWith("eos_token_id", {{1}}).message(), HasSubstr("has an array of 1"));
  EXPECT_THAT(ErrorWith("bos_token_id", "x").message(), HasSubstr("bos_token_id has \"x\""));
}

TEST(ModelConfig, NamesFileAndKey) {
  nlohmann::json json = Nested();
  json["text_config"]["hidden_size"] = "big";
  EXPECT_EQ(Parse(json).status().message(),
            "c.json: text_config.hidden_size is \"big\", must be an integer from 1 to 65536");
  json["text_config"] = 3;
  EXPECT_EQ(Parse(json).status().message(), "c.json: text_config is 3, must be an object");
  EXPECT_EQ(ErrorWith("rope_parameters", {{"rope_theta", "x"}}).message(),
            "c.json: rope_parameters.rope_theta is \"x\", must be a number from 1 to 1e+15");
  EXPECT_EQ(Parse(nlohmann::json::array()).status().message(),
            "c.json: is JSON array, must be an object");
  EXPECT_THAT(ParseModelConfig("{", "c.json").status().message(), HasSubstr("c.json: is not JSON"));
}

TEST(ModelConfig, LoadsAFolder) {
  const TempFolder folder;
  EXPECT_EQ(LoadModelConfig(folder.path()).status().code(), StatusCode::kNotFound);
  nlohmann::json json = Flat();
  json["eos_token_id"] = 5;
  folder.Write("config.json", json.dump());
  EXPECT_THAT(LoadModelConfig(folder.path())->eos_token_ids, ElementsAre(5));
  folder.Write("generation_config.json", R"({"eos_token_id": [7, 5], "top_k": 40})");
  EXPECT_THAT(LoadModelConfig(folder.path())->eos_token_ids, ElementsAre(7, 5));
  folder.Write("generation_config.json", R"({"eos_token_id": 9})");
  EXPECT_THAT(LoadModelConfig(folder.path())->eos_token_ids, ElementsAre(9, 5));
  folder.Write("generation_config.json", R"({"eos_token_id": 900})");
  EXPECT_THAT(LoadModelConfig(folder.path()).status().message(),
              HasSubstr(folder.File("generation_config.json") + ": eos_token_id has 900"));
  folder.Write("generation_config.json", "[");
  EXPECT_THAT(LoadModelConfig(folder.path()).status().message(), HasSubstr("is not JSON"));
}

TEST(ModelConfig, ReadsThePublishedSizes) {
  const std::filesystem::path dir = GDN_SOURCE_DIR "/tools/make_checkpoint/configs";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    const auto text = ReadFile(entry.path().string(), 1 << 20);
    ASSERT_TRUE(text.ok());
    const auto config = ParseModelConfig(*text, entry.path().filename().string());
    ASSERT_TRUE(config.ok()) << config.status().message();
    EXPECT_EQ(config->CountLayers(LayerKind::kFullAttention), config->num_layers / 4);
    EXPECT_EQ(config->rotary_dim, 64);
    EXPECT_EQ(config->rope_theta, 1e7);
    ++count;
  }
  EXPECT_EQ(count, 4);
}

}  // namespace
}  // namespace gdn
