// SPDX-License-Identifier: Apache-2.0
#include "model/qwen3_5/tensor_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/str.h"
#include "io/read_file.h"
#include "io/safetensors_writer.h"
#include "io/temp_folder.h"

namespace gdn::qwen3_5 {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kConfig = R"({"architectures": ["Qwen3_5ForCausalLM"], "vocab_size": 40,
  "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "full_attention_interval": 2,
  "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "linear_key_head_dim": 4,
  "linear_value_head_dim": 6, "linear_num_key_heads": 2, "linear_num_value_heads": 6,
  "linear_conv_kernel_dim": 3, "mtp_num_hidden_layers": 1)";

ModelConfig Config(const std::string& more) {
  return ParseModelConfig(StrCat(kConfig, more, "}"), "c.json").value();
}

using Edit = std::function<void(std::vector<SafetensorsEntry>&)>;

// What CheckTensors says of a checkpoint that has the tensors of the config, edited.
Status CheckEdited(const ModelConfig& config, const Edit& edit,
                   const std::string& prefix = "model.", const TempFolder& folder = {}) {
  std::vector<SafetensorsEntry> entries;
  for (const TensorSpec& spec : ListTensors(config, prefix)) {
    entries.push_back({spec.name, DType::kBf16, spec.shape});
  }
  edit(entries);
  auto writer = SafetensorsWriter::Create(folder.File("model.safetensors"), entries).value();
  for (const SafetensorsEntry& entry : entries) {
    const std::vector<std::byte> bytes(static_cast<size_t>(entry.shape.NumElements()) *
                                       SizeOf(entry.dtype));
    EXPECT_TRUE(writer.Append(bytes).ok());
  }
  EXPECT_TRUE(writer.Finish().ok());
  const auto checkpoint = SafetensorsCheckpoint::Open(folder.path());
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  return CheckTensors(config, *checkpoint);
}

SafetensorsEntry& Entry(std::vector<SafetensorsEntry>& entries, const std::string& name) {
  for (SafetensorsEntry& entry : entries) {
    if (entry.name == name) return entry;
  }
  ADD_FAILURE() << name;
  return entries.front();
}

Edit Remove(const std::string& name) {
  return [name](auto& entries) {
    EXPECT_EQ(std::erase_if(entries, [&](const auto& e) { return e.name == name; }), 1U) << name;
  };
}

TEST(TensorTable, ListsEveryTensorOnce) {
  const ModelConfig config = Config("");
  const std::vector<TensorSpec> specs = ListTensors(config, "model.");
  std::vector<std::string> shown;
  for (const TensorSpec& spec : specs) shown.push_back(spec.name + " " + spec.shape.ToString());
  const std::string linear = "model.layers.0.linear_attn.";
  const std::string full = "model.layers.1.self_attn.";
  std::vector<std::string> expected = {"model.embed_tokens.weight [40, 16]",
                                       linear + "in_proj_qkv.weight [52, 16]",
                                       linear + "in_proj_z.weight [36, 16]",
                                       linear + "in_proj_b.weight [6, 16]",
                                       linear + "in_proj_a.weight [6, 16]",
                                       linear + "conv1d.weight [52, 1, 3]",
                                       linear + "A_log [6]",
                                       linear + "dt_bias [6]",
                                       linear + "norm.weight [6]",
                                       linear + "out_proj.weight [16, 36]",
                                       full + "q_proj.weight [64, 16]",
                                       full + "k_proj.weight [16, 16]",
                                       full + "v_proj.weight [16, 16]",
                                       full + "q_norm.weight [8]",
                                       full + "k_norm.weight [8]",
                                       full + "o_proj.weight [16, 32]",
                                       "model.norm.weight [16]",
                                       "lm_head.weight [40, 16]"};
  for (const char* layer : {"model.layers.0.", "model.layers.1."}) {
    for (const char* name : {"input_layernorm.weight [16]", "post_attention_layernorm.weight [16]",
                             "mlp.gate_proj.weight [24, 16]", "mlp.up_proj.weight [24, 16]",
                             "mlp.down_proj.weight [16, 24]"}) {
      expected.push_back(StrCat(layer, name));
    }
  }
  EXPECT_THAT(shown, ::testing::UnorderedElementsAreArray(expected));
}

TEST(TensorTable, AnUngatedQueryIsHalfAsWide) {
  for (const TensorSpec& spec : ListTensors(Config(R"(, "attn_output_gate": false)"), "model.")) {
    if (!spec.name.ends_with("q_proj.weight")) continue;
    EXPECT_EQ(spec.shape, (Shape{32, 16}));
  }
}

// 752,393,024 parameters as published: 1.505 GB in bf16.
TEST(TensorTable, CountsTheParametersOfARealModel) {
  const auto text =
      ReadFile(GDN_SOURCE_DIR "/tools/make_checkpoint/configs/qwen3_5_0.8b.json", 1 << 20);
  ASSERT_TRUE(text.ok());
  int64_t parameters = 0;
  for (const TensorSpec& spec : ListTensors(ParseModelConfig(*text, "c").value(), "")) {
    parameters += spec.shape.NumElements();
  }
  EXPECT_NEAR(static_cast<double>(parameters), 752e6, 0.6e6);
}

TEST(CheckTensors, AcceptsBothPrefixesAndExtraTensors) {
  const Edit add_extras = [](auto& entries) {
    entries.push_back({"mtp.fc.weight", DType::kI32, {3}});
    entries.push_back({"model.visual.x", DType::kF16, {3}});
  };
  for (const char* prefix : {"model.", "model.language_model."}) {
    const Status status = CheckEdited(Config(""), add_extras, prefix);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  const Status without_mtp = CheckEdited(Config(""), [](auto&) {});
  EXPECT_TRUE(without_mtp.ok()) << "a declared MTP block may be absent: " << without_mtp.message();
}

TEST(CheckTensors, TiedDecidesWhetherAHeadIsWanted) {
  const ModelConfig tied = Config(R"(, "tie_word_embeddings": true)");
  EXPECT_TRUE(CheckEdited(tied, [](auto&) {}).ok());
  EXPECT_TRUE(CheckEdited(tied, [](auto& entries) {
                entries.push_back({"lm_head.weight", DType::kF32, {1}});
              }).ok());
  const Status status = CheckEdited(Config(""), Remove("lm_head.weight"));
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("has no tensor \"lm_head.weight\", must be [40, 16]"));
}

TEST(CheckTensors, NamesAnyMissingTensor) {
  const ModelConfig config = Config("");
  for (const TensorSpec& spec : ListTensors(config, "model.")) {
    const Status status = CheckEdited(config, Remove(spec.name));
    EXPECT_EQ(status.code(), StatusCode::kNotFound) << spec.name;
    EXPECT_THAT(status.message(), HasSubstr(spec.name));
  }
}

TEST(CheckTensors, NamesFileTensorAndShapes) {
  const TempFolder folder;
  const std::string name = "model.layers.0.linear_attn.conv1d.weight";
  const Status status = CheckEdited(
      Config(""),
      [&](auto& entries) {
        Entry(entries, name).shape = Shape{52, 3, 1};
      },
      "model.", folder);
  EXPECT_EQ(status.message(), folder.File("model.safetensors") + ": tensor \"" + name +
                                  "\" is BF16 [52, 3, 1], must be [52, 1, 3]");
  const Status rank = CheckEdited(Config(""), [&](auto& entries) {
    Entry(entries, name).shape = Shape{52, 3};
  });
  EXPECT_THAT(rank.message(), HasSubstr("is BF16 [52, 3], must be [52, 1, 3]"));
}

TEST(CheckTensors, WantsOneDTypeOfLinears) {
  const auto retype = [](const std::string& name, DType dtype) {
    return [name, dtype](auto& entries) {
      // Wide elements first, or they would not be aligned.
      SafetensorsEntry entry = Entry(entries, name);
      Remove(name)(entries);
      entry.dtype = dtype;
      entries.insert(entries.begin(), entry);
    };
  };
  for (const TensorSpec& spec : ListTensors(Config(""), "model.")) {
    const bool linear = spec.role == TensorRole::kLinear || spec.role == TensorRole::kHead ||
                        spec.role == TensorRole::kEmbedding;
    for (const DType dtype : {DType::kF32, DType::kF16}) {
      const Status status = CheckEdited(Config(""), retype(spec.name, dtype));
      EXPECT_EQ(status.ok(), !linear) << status.message();
    }
    const Status status = CheckEdited(Config(""), retype(spec.name, DType::kI32));
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr(spec.name), HasSubstr("is I32 "), HasSubstr("must be F32, F16")));
  }
  EXPECT_THAT(
      CheckEdited(Config(""), retype("model.layers.0.mlp.up_proj.weight", DType::kF16)).message(),
      AllOf(HasSubstr("mlp.up_proj.weight\" is F16 [24, 16], must be bf16"),
            HasSubstr("as embed_tokens.weight is")));
}

TEST(CheckTensors, AcceptsTheTrainedTinyCheckpoint) {
  const std::string dir = GDN_SOURCE_DIR "/models/tiny";
  const auto checkpoint = SafetensorsCheckpoint::Open(dir);
  if (checkpoint.status().code() == StatusCode::kNotFound) GTEST_SKIP() << "models/tiny is absent";
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  const auto config = LoadModelConfig(dir);
  ASSERT_TRUE(config.ok()) << config.status().message();
  const Status status = CheckTensors(*config, *checkpoint);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_FALSE(config->eos_token_ids.empty());
}

TEST(FindPrefix, SaysWhichNamesItTried) {
  const TempFolder folder;
  auto writer = SafetensorsWriter::Create(folder.File("model.safetensors"), {}).value();
  ASSERT_TRUE(writer.Finish().ok());
  const auto checkpoint = SafetensorsCheckpoint::Open(folder.path()).value();
  EXPECT_THAT(FindPrefix(checkpoint).status().message(),
              AllOf(HasSubstr("model.language_model.embed_tokens.weight"),
                    HasSubstr(" or model.embed_tokens.weight")));
}

}  // namespace
}  // namespace gdn::qwen3_5
