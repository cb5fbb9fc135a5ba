// SPDX-License-Identifier: Apache-2.0
#include "model/random_checkpoint.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/str.h"
#include "io/json_file.h"
#include "io/safetensors_writer.h"
#include "model/config.h"
#include "model/qwen3_5/random_weights.h"
#include "model/qwen3_5/tensor_table.h"
#include "model/random_values.h"

namespace gdn {
namespace {

using qwen3_5::TensorRole;
using qwen3_5::TensorSpec;

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
constexpr int kMaxShards = 999;

struct PlannedTensor {
  TensorSpec spec;
  DType dtype;
  uint64_t size_bytes;
};

struct PlannedFile {
  std::string name;
  std::vector<PlannedTensor> tensors;
};

std::vector<PlannedTensor> PlanTensors(const ModelConfig& config,
                                       const RandomCheckpointOptions& options) {
  std::vector<PlannedTensor> out;
  for (TensorSpec& spec : qwen3_5::ListTensors(config, qwen3_5::PrefixOf(config))) {
    const bool wide = options.a_log_f32 &&
                      (spec.role == TensorRole::kALog || spec.role == TensorRole::kGatedNorm);
    const DType dtype = wide ? DType::kF32 : options.dtype;
    const uint64_t bytes = static_cast<uint64_t>(spec.shape.NumElements()) * SizeOf(dtype);
    out.push_back({std::move(spec), dtype, bytes});
  }
  return out;
}

uint64_t TotalBytes(const std::vector<PlannedTensor>& tensors) {
  uint64_t total = 0;
  for (const PlannedTensor& tensor : tensors) total += tensor.size_bytes;
  return total;
}

// Runs of tensors of about the same size.
std::vector<PlannedFile> PlanFiles(std::vector<PlannedTensor> tensors, int num_shards) {
  const auto total = static_cast<double>(TotalBytes(tensors));
  std::vector<PlannedFile> files(static_cast<size_t>(num_shards));
  double done = 0;
  for (PlannedTensor& tensor : tensors) {
    const auto shard = static_cast<int>(done / total * num_shards);
    done += static_cast<double>(tensor.size_bytes);
    files[static_cast<size_t>(std::min(shard, num_shards - 1))].tensors.push_back(
        std::move(tensor));
  }
  std::erase_if(files, [](const PlannedFile& file) { return file.tensors.empty(); });
  for (size_t i = 0; i < files.size(); ++i) {
    std::array<char, 64> name{};
    std::snprintf(name.data(), name.size(), "model-%05zu-of-%05zu.safetensors", i + 1,
                  files.size());
    files[i].name = num_shards == 1 ? kSingleFile : name.data();
    // Elements of four bytes first: behind an odd number of two-byte ones they would lie askew.
    std::stable_partition(files[i].tensors.begin(), files[i].tensors.end(),
                          [](const PlannedTensor& t) { return t.dtype == DType::kF32; });
  }
  return files;
}

Status WriteText(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? OkStatus() : InvalidArgument(path + ": cannot be written");
}

Status WriteConfig(const RandomCheckpointOptions& options) {
  GDN_ASSIGN_OR_RETURN(nlohmann::json json, ParseJson(options.config_json, options.config_name));
  const char* word = options.dtype == DType::kBf16  ? "bfloat16"
                     : options.dtype == DType::kF16 ? "float16"
                                                    : "float32";
  json.erase("torch_dtype");
  json["dtype"] = word;
  if (json.contains("text_config") && json["text_config"].is_object()) {
    json["text_config"].erase("torch_dtype");
    json["text_config"]["dtype"] = word;
  }
  return WriteText(options.out_dir + "/config.json", json.dump(2) + "\n");
}

Status WriteIndex(const std::string& dir, const std::vector<PlannedFile>& files) {
  nlohmann::json map = nlohmann::json::object();
  uint64_t total = 0;
  for (const PlannedFile& file : files) {
    total += TotalBytes(file.tensors);
    for (const PlannedTensor& tensor : file.tensors) map[tensor.spec.name] = file.name;
  }
  const nlohmann::json index = {{"metadata", {{"total_size", total}}}, {"weight_map", map}};
  return WriteText(StrCat(dir, "/", kIndexFile), index.dump(2) + "\n");
}

Status CopyTokenizer(const std::string& from, const std::string& to) {
  constexpr std::array<const char*, 4> kFiles = {"tokenizer.json", "tokenizer_config.json",
                                                 "generation_config.json", "chat_template.jinja"};
  for (const char* name : kFiles) {
    const std::string source = StrCat(from, "/", name);
    std::error_code error;
    if (!std::filesystem::exists(source, error)) {
      if (name == kFiles[0]) return NotFound(source + ": no such file");
      continue;
    }
    std::filesystem::copy_file(source, StrCat(to, "/", name),
                               std::filesystem::copy_options::overwrite_existing, error);
    if (error) return InvalidArgument(StrCat(source, ": cannot be copied: ", error.message()));
  }
  return OkStatus();
}

Status PrepareFolder(const std::string& dir, bool sharded) {
  std::error_code error;
  std::filesystem::create_directories(dir, error);
  if (error) return InvalidArgument(StrCat(dir, ": cannot be made: ", error.message()));
  const char* other = sharded ? kSingleFile : kIndexFile;
  if (std::filesystem::exists(StrCat(dir, "/", other), error)) {
    return InvalidArgument(StrCat(dir, ": has a ", other, ", must be a folder without one"));
  }
  return OkStatus();
}

Status CheckOptions(const RandomCheckpointOptions& options) {
  if (!IsFloat(options.dtype)) {
    return InvalidArgument(
        StrCat("random checkpoint: dtype is ", Name(options.dtype), ", must be f32, f16 or bf16"));
  }
  if (options.num_shards < 1 || options.num_shards > kMaxShards) {
    return InvalidArgument(StrCat("random checkpoint: shards are ", options.num_shards,
                                  ", must be from 1 to ", kMaxShards));
  }
  return OkStatus();
}

}  // namespace

Status WriteRandomCheckpoint(const RandomCheckpointOptions& options) {
  GDN_RETURN_IF_ERROR(CheckOptions(options));
  GDN_ASSIGN_OR_RETURN(const ModelConfig config,
                       ParseModelConfig(options.config_json, options.config_name));
  std::vector<PlannedTensor> tensors = PlanTensors(config, options);
  const uint64_t total_bytes = TotalBytes(tensors);
  const std::vector<PlannedFile> files = PlanFiles(std::move(tensors), options.num_shards);
  const bool sharded = options.num_shards > 1;
  GDN_RETURN_IF_ERROR(PrepareFolder(options.out_dir, sharded));

  uint64_t done_bytes = 0;
  for (const PlannedFile& file : files) {
    std::vector<SafetensorsEntry> entries;
    for (const PlannedTensor& tensor : file.tensors) {
      entries.push_back({tensor.spec.name, tensor.dtype, tensor.spec.shape});
    }
    GDN_ASSIGN_OR_RETURN(
        SafetensorsWriter writer,
        SafetensorsWriter::Create(StrCat(options.out_dir, "/", file.name), entries));
    for (const PlannedTensor& tensor : file.tensors) {
      GDN_RETURN_IF_ERROR(
          GenerateTensor(RngOfTensor(options.seed, tensor.spec.name),
                         qwen3_5::DistributionOf(tensor.spec, config.tie_word_embeddings),
                         tensor.dtype, tensor.spec.shape, [&](std::span<const std::byte> bytes) {
                           done_bytes += bytes.size();
                           if (options.progress) {
                             options.progress(done_bytes, total_bytes);
                           }
                           return writer.Append(bytes);
                         }));
    }
    GDN_RETURN_IF_ERROR(writer.Finish());
  }
  if (sharded) GDN_RETURN_IF_ERROR(WriteIndex(options.out_dir, files));
  GDN_RETURN_IF_ERROR(WriteConfig(options));
  if (options.tokenizer_dir.empty()) return OkStatus();
  return CopyTokenizer(options.tokenizer_dir, options.out_dir);
}

}  // namespace gdn
