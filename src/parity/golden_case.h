// SPDX-License-Identifier: Apache-2.0
// One golden case: a folder with manifest.json and .npy files, dumped from a reference's kernel.
//
// manifest.json: {"op": name, "args": {...}, "tensors": {name: {"file", "dtype", "shape"}},
// "outputs": [names] or null for out and state_out, "oracle": {"implementation", ...}, "noise":
// {output: {"differ": share, "nmse": x}}}. dtype is f32, f16, bf16 (stored as uint16), i32, i64 or
// bool. noise is how far the reference's own algorithm moves when only the order or the width of
// its accumulations changes. docs/reference/goldens.md says which op reads which tensors and args.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tensor/storage.h"

namespace gdn {

struct Noise {
  double differ = 0;  // share of the elements
  double nmse = 0;
};

class GoldenCase {
 public:
  // Reads the manifest and every tensor that it names; dtypes and shapes must be those of the
  // files. Errors name the folder and the thing: kNotFound, kInvalidArgument, kOutOfMemory.
  static Result<GoldenCase> Read(const std::string& folder);
  // Moves the tensors into memory that the host can write, a device's.
  Status MoveTo(MemorySource& memory);

  const std::string& name() const { return name_; }  // last part of the folder's path
  const std::string& op() const { return op_; }
  const std::string& implementation() const { return implementation_; }  // of the oracle, or ""
  const std::vector<std::string>& outputs() const { return outputs_; }
  bool has_noise() const { return has_noise_; }
  Noise noise(std::string_view output) const;  // zero where the manifest has none

  bool Has(std::string_view tensor) const { return tensors_.contains(tensor); }
  bool IsOutput(std::string_view tensor) const;
  bool Is16Bit() const;  // whether any tensor is f16 or bf16
  // Errors: kInvalidArgument where there is none, or it has another rank.
  Result<ConstTensor> Tensor(std::string_view tensor, int rank) const;
  Result<ConstTensor> Tensor(std::string_view tensor) const;
  // An i32 tensor of rank 1.
  Result<std::vector<int32_t>> Ints(std::string_view tensor) const;

  // Arguments. Without fallback the manifest must have them.
  bool HasArg(const char* arg) const;
  Result<int64_t> IntArg(const char* arg, std::optional<int64_t> fallback = {}) const;
  Result<double> NumberArg(const char* arg, std::optional<double> fallback = {}) const;
  Result<bool> BoolArg(const char* arg, std::optional<bool> fallback = {}) const;
  Result<std::string> WordArg(const char* arg, const std::string& fallback) const;
  const nlohmann::json& args() const { return args_; }

  // kInvalidArgument, "<folder>: " before the message.
  Status Error(const std::string& message) const;

 private:
  Status ReadManifest(const nlohmann::json& manifest);
  Status ReadTensors(const nlohmann::json& manifest);
  Status ReadTensor(const std::string& name, const nlohmann::json& spec);
  Status ReadNoise(const nlohmann::json& manifest);

  std::string folder_;
  std::string name_;
  std::string op_;
  std::string implementation_;
  nlohmann::json args_;
  std::vector<std::string> outputs_;
  std::map<std::string, OwnedTensor, std::less<>> tensors_;
  std::map<std::string, Noise, std::less<>> noise_;
  bool has_noise_ = false;
  size_t total_bytes_ = 0;
};

}  // namespace gdn
