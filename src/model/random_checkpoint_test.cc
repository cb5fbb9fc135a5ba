// SPDX-License-Identifier: Apache-2.0
#include "model/random_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "io/read_file.h"
#include "io/safetensors.h"
#include "io/temp_folder.h"
#include "model/config.h"
#include "model/qwen3_5/tensor_table.h"
#include "model/random_values.h"

namespace gdn {
namespace {

using ::testing::HasSubstr;

constexpr const char* kConfig = R"({"architectures": ["Qwen3_5ForConditionalGeneration"],
  "text_config": {"vocab_size": 96, "hidden_size": 32, "intermediate_size": 48,
  "num_hidden_layers": 4, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
  "partial_rotary_factor": 0.5, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
  "linear_num_key_heads": 1, "linear_num_value_heads": 3, "tie_word_embeddings": false}})";

class RandomCheckpoint : public ::testing::Test {
 protected:
  RandomCheckpointOptions Options(const std::string& folder) const {
    RandomCheckpointOptions options;
    options.config_json = kConfig;
    options.out_dir = folder_.File(folder);
    return options;
  }

  TempFolder folder_;
};

std::string BytesOf(const SafetensorsCheckpoint& checkpoint, const std::string& name) {
  const Result<ConstTensor> tensor = checkpoint.Find(name);
  EXPECT_TRUE(tensor.ok()) << tensor.status().message();
  if (!tensor.ok()) return "";
  return {static_cast<const char*>(tensor->data),
          static_cast<size_t>(tensor->shape.NumElements()) * SizeOf(tensor->dtype)};
}

std::map<std::string, std::string> AllBytes(const std::string& dir) {
  const auto checkpoint = SafetensorsCheckpoint::Open(dir);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  std::map<std::string, std::string> out;
  if (!checkpoint.ok()) return out;
  for (const SafetensorsInfo& info : checkpoint->tensors()) {
    out[info.name] = BytesOf(*checkpoint, info.name);
  }
  return out;
}

TEST_F(RandomCheckpoint, HasEveryTensorOfItsConfig) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    RandomCheckpointOptions options = Options(Name(dtype));
    options.dtype = dtype;
    options.a_log_f32 = true;
    const Status status = WriteRandomCheckpoint(options);
    ASSERT_TRUE(status.ok()) << status.message();
    const auto config = LoadModelConfig(options.out_dir);
    ASSERT_TRUE(config.ok()) << config.status().message();
    const auto checkpoint = SafetensorsCheckpoint::Open(options.out_dir);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    const Status check = qwen3_5::CheckTensors(*config, *checkpoint);
    EXPECT_TRUE(check.ok()) << check.message();
    EXPECT_EQ(checkpoint->tensors().size(),
              qwen3_5::ListTensors(*config, "model.language_model.").size());
    const std::string attn = "model.language_model.layers.0.linear_attn.";
    EXPECT_EQ(checkpoint->Find(attn + "A_log")->dtype, DType::kF32);
    EXPECT_EQ(checkpoint->Find(attn + "norm.weight")->dtype, DType::kF32);
    EXPECT_EQ(checkpoint->Find(attn + "dt_bias")->dtype, dtype);
  }
}

TEST_F(RandomCheckpoint, ShardsHoldTheSameBytesAsOneFile) {
  const RandomCheckpointOptions one = Options("one");
  RandomCheckpointOptions three = Options("three");
  three.num_shards = 3;
  ASSERT_TRUE(WriteRandomCheckpoint(one).ok());
  ASSERT_TRUE(WriteRandomCheckpoint(three).ok());
  EXPECT_EQ(AllBytes(one.out_dir), AllBytes(three.out_dir));
  EXPECT_TRUE(std::filesystem::exists(three.out_dir + "/model-00003-of-00003.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(three.out_dir + "/model.safetensors"));
}

TEST_F(RandomCheckpoint, SeedAndNameDecideTheValues) {
  RandomCheckpointOptions again = Options("again");
  RandomCheckpointOptions other = Options("other");
  other.seed = 2;
  ASSERT_TRUE(WriteRandomCheckpoint(Options("first")).ok());
  ASSERT_TRUE(WriteRandomCheckpoint(again).ok());
  ASSERT_TRUE(WriteRandomCheckpoint(other).ok());
  const auto first = AllBytes(Options("first").out_dir);
  EXPECT_EQ(first, AllBytes(again.out_dir));
  const auto different = AllBytes(other.out_dir);
  for (const auto& [name, bytes] : first) EXPECT_NE(bytes, different.at(name)) << name;
  const std::string layers = "model.language_model.layers.";
  EXPECT_NE(first.at(layers + "0.mlp.up_proj.weight"), first.at(layers + "1.mlp.up_proj.weight"));
}

TEST_F(RandomCheckpoint, MoreShardsThanTensorsIsFewerFiles) {
  RandomCheckpointOptions options = Options("many");
  options.num_shards = 999;
  ASSERT_TRUE(WriteRandomCheckpoint(options).ok());
  EXPECT_EQ(AllBytes(options.out_dir).size(), 3U * 14 + 11 + 3);
}

TEST_F(RandomCheckpoint, CopiesTheTokenizer) {
  RandomCheckpointOptions options = Options("with_tokenizer");
  options.tokenizer_dir = folder_.File("tokenizer");
  std::filesystem::create_directories(options.tokenizer_dir);
  const Status status = WriteRandomCheckpoint(options);
  EXPECT_THAT(status.message(), HasSubstr("tokenizer/tokenizer.json: no such file"));
  std::ofstream(options.tokenizer_dir + "/tokenizer.json") << "{\"a\": 1}";
  std::ofstream(options.tokenizer_dir + "/generation_config.json") << R"({"eos_token_id": [7, 5]})";
  ASSERT_TRUE(WriteRandomCheckpoint(options).ok());
  EXPECT_EQ(*ReadFile(options.out_dir + "/tokenizer.json", 100), "{\"a\": 1}");
  EXPECT_THAT(LoadModelConfig(options.out_dir)->eos_token_ids, ::testing::ElementsAre(7, 5));
}

TEST_F(RandomCheckpoint, RefusesBadOptions) {
  RandomCheckpointOptions options = Options("bad");
  options.num_shards = 0;
  EXPECT_THAT(WriteRandomCheckpoint(options).message(), HasSubstr("shards are 0"));
  options = Options("bad");
  options.dtype = DType::kI32;
  EXPECT_THAT(WriteRandomCheckpoint(options).message(), HasSubstr("dtype is i32"));
  options = Options("bad");
  options.config_json = "{";
  EXPECT_THAT(WriteRandomCheckpoint(options).message(), HasSubstr("config.json: is not JSON"));
  options = Options("both");
  ASSERT_TRUE(WriteRandomCheckpoint(options).ok());
  options.num_shards = 2;
  EXPECT_THAT(WriteRandomCheckpoint(options).message(), HasSubstr("has a model.safetensors"));
}

TEST(RandomValues, HaveTheMomentsAsked) {
  std::vector<float> values;
  const ValueDistribution distribution = {0.5F, 2.0F, false};
  const Status status =
      GenerateTensor(RngOfTensor(3, "x"), distribution, DType::kF32, Shape{300, 1000},
                     [&](std::span<const std::byte> bytes) {
                       const size_t count = bytes.size() / sizeof(float);
                       values.resize(values.size() + count);
                       std::memcpy(&values[values.size() - count], bytes.data(), bytes.size());
                       return OkStatus();
                     });
  ASSERT_TRUE(status.ok());
  ASSERT_EQ(values.size(), 300000U);
  double sum = 0;
  double squares = 0;
  double within_one = 0;
  for (const float v : values) {
    sum += v;
    squares += (v - 0.5) * (v - 0.5);
    within_one += std::abs(v - 0.5) < 2 ? 1 : 0;
  }
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0.5, 0.02);
  EXPECT_NEAR(std::sqrt(squares / count), 2.0, 0.02);
  // 0.683 of a normal distribution, 0.663 of the sum of four uniforms.
  EXPECT_NEAR(within_one / count, 0.663, 0.01);
}

// By any number of threads, and across the borders of pieces and tasks.
TEST(RandomValues, FillTensorIsGenerateTensor) {
  const Shape shapes[] = {{3}, {5, 1, 4}, {1, 70000}, {700, 301}, {0, 4}, {}};
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    for (const Shape& shape : shapes) {
      const ValueDistribution distribution = {0.5F, 2, shape.rank() == 2};
      std::vector<std::byte> want;
      const auto append = [&](std::span<const std::byte> bytes) {
        want.insert(want.end(), bytes.begin(), bytes.end());
        return OkStatus();
      };
      ASSERT_TRUE(GenerateTensor(RngOfTensor(3, "x"), distribution, dtype, shape, append).ok());
      for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        std::vector<std::byte> got(want.size());
        FillTensor(RngOfTensor(3, "x"), distribution, pool, Tensor(got.data(), dtype, shape));
        EXPECT_EQ(got, want) << Name(dtype) << shape.ToString();
      }
    }
  }
}

// The bits are promised to be those of every machine.
TEST(RandomValues, HaveKnownBits) {
  std::vector<uint16_t> bits;
  const auto take = [&](std::span<const std::byte> bytes) {
    const size_t count = bytes.size() / sizeof(uint16_t);
    bits.resize(bits.size() + count);
    std::memcpy(&bits[bits.size() - count], bytes.data(), bytes.size());
    return OkStatus();
  };
  const ValueDistribution distribution = {0, 0.125F, true};
  ASSERT_TRUE(
      GenerateTensor(RngOfTensor(1, "name"), distribution, DType::kBf16, Shape{2, 3}, take).ok());
  EXPECT_THAT(bits, ::testing::ElementsAre(48279, 48608, 15755, 48239, 15453, 48691));
}

}  // namespace
}  // namespace gdn
