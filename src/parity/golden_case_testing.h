// SPDX-License-Identifier: Apache-2.0
// Golden cases for tests, written to a temporary folder.
#pragma once

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/temp_folder.h"
#include "tensor/tensor.h"

namespace gdn {

// Adds tensors and edits the manifest; Write puts manifest.json beside the files.
class CaseWriter {
 public:
  explicit CaseWriter(const std::string& op) {
    manifest = {{"op", op},
                {"args", nlohmann::json::object()},
                {"tensors", nlohmann::json::object()},
                {"outputs", {"out"}},
                {"oracle", {{"implementation", "a test"}}}};
  }

  // values are rounded to dtype: f32, bf16 or i32.
  void Add(const std::string& name, DType dtype, const std::vector<int64_t>& shape,
           const std::vector<float>& values) {
    std::string dims;
    for (const int64_t dim : shape) dims += std::to_string(dim) + ",";
    const char* descr = dtype == DType::kF32 ? "<f4" : dtype == DType::kI32 ? "<i4" : "<u2";
    std::string header = std::string("{'descr': '") + descr +
                         "', 'fortran_order': False, 'shape': (" + dims + "), }\n";
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    bytes += header;
    for (const float value : values) AppendElement(bytes, dtype, value);
    folder.Write(name + ".npy", bytes);
    manifest["tensors"][name] = {{"file", name + ".npy"}, {"dtype", Name(dtype)}, {"shape", shape}};
  }

  // The folder.
  const std::string& Write() const {
    folder.Write("manifest.json", manifest.dump());
    return folder.path();
  }

  nlohmann::json manifest;
  TempFolder folder;

 private:
  static void AppendElement(std::string& bytes, DType dtype, float value) {
    const auto append = [&](auto element) {
      const size_t at = bytes.size();
      bytes.resize(at + sizeof(element));
      std::memcpy(bytes.data() + at, &element, sizeof(element));
    };
    if (dtype == DType::kF32) append(value);
    if (dtype == DType::kI32) append(static_cast<int32_t>(value));
    if (dtype == DType::kBf16) append(FromF32<Bf16>(value).bits);
  }
};

}  // namespace gdn
