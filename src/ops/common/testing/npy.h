// SPDX-License-Identifier: Apache-2.0
// Golden tensors for tests: .npy files of ../shared/goldens/gb10, row-major, little-endian. bf16 is
// stored as uint16. Includable where GDN_SOURCE_DIR is defined (tests).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/half.h"
#include "tensor/tensor.h"

namespace gdn {

class NpyArray {
 public:
  // Nothing where the file is not there or is not an array of f32, u16 (read as bf16), i32 or
  // i64 (read as i32).
  static std::optional<NpyArray> Read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    constexpr size_t kPrefix = 10;  // magic, version, u16 header length: format 1.0
    if (bytes.size() < kPrefix || bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0) {
      return std::nullopt;
    }
    const size_t header_bytes =
        static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
    const std::string header = bytes.substr(kPrefix, header_bytes);
    NpyArray out;
    size_t stored_bytes = 0;  // of an element, where not that of the dtype
    if (header.find("'<f4'") != std::string::npos) {
      out.dtype_ = DType::kF32;
    } else if (header.find("'<u2'") != std::string::npos) {
      out.dtype_ = DType::kBf16;
    } else if (header.find("'<i4'") != std::string::npos) {
      out.dtype_ = DType::kI32;
    } else if (header.find("'<i8'") != std::string::npos) {
      out.dtype_ = DType::kI32;
      stored_bytes = sizeof(int64_t);
    } else {
      return std::nullopt;
    }
    if (header.find("'fortran_order': False") == std::string::npos) return std::nullopt;
    const char* p = header.c_str() + header.find('(') + 1;
    for (char* end = nullptr;; p = end) {
      const long dim = std::strtol(p, &end, 10);
      if (end == p) break;
      out.shape_.Append(dim);
      while (*end == ',' || *end == ' ') ++end;
    }
    const auto count = static_cast<size_t>(out.shape_.NumElements());
    const size_t bytes_each = SizeOf(out.dtype_);
    if (stored_bytes == 0) stored_bytes = bytes_each;
    if (bytes.size() != kPrefix + header_bytes + count * stored_bytes) return std::nullopt;
    out.data_.resize(count * bytes_each);
    for (size_t i = 0; i < count; ++i) {  // little-endian: the low bytes of an i64 come first
      std::memcpy(out.data_.data() + i * bytes_each,
                  bytes.data() + kPrefix + header_bytes + i * stored_bytes, bytes_each);
    }
    return out;
  }

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  Tensor view() { return Tensor(data_.data(), dtype_, shape_); }
  ConstTensor view() const { return ConstTensor(data_.data(), dtype_, shape_); }

  template <class T>
  std::vector<T> To() const {
    std::vector<T> out(static_cast<size_t>(shape_.NumElements()));
    for (size_t i = 0; i < out.size(); ++i) {
      if constexpr (std::is_same_v<T, int32_t>) {
        out[i] = At<int32_t>(i);
      } else {
        out[i] = FromF32<T>(dtype_ == DType::kBf16 ? ToF32(At<Bf16>(i)) : At<float>(i));
      }
    }
    return out;
  }
  std::vector<float> F32() const { return To<float>(); }
  std::vector<int32_t> I32() const { return To<int32_t>(); }

 private:
  template <class T>
  T At(size_t index) const {
    GDN_CHECK(dtype_ == DTypeOf<T>());
    T value;
    std::memcpy(&value, data_.data() + index * sizeof(T), sizeof(T));
    return value;
  }

  DType dtype_ = DType::kF32;
  Shape shape_;
  std::vector<std::byte> data_;
};

// One folder of goldens. exists() is false on a machine without ../shared: skip the test, saying
// so.
//   const Golden golden("l2norm_f32_realdims");
//   if (!golden.exists()) GTEST_SKIP() << golden.Missing();
class Golden {
 public:
  explicit Golden(const std::string& name)
      : folder_(std::filesystem::path(GDN_SOURCE_DIR "/../shared/goldens/gb10") / name) {}

  bool exists() const { return std::filesystem::exists(folder_ / "manifest.json"); }
  std::string Missing() const { return "no goldens at " + folder_.string(); }
  // The tensor in <name>.npy, which must be there.
  NpyArray operator[](const std::string& name) const {
    std::optional<NpyArray> array = NpyArray::Read(folder_ / (name + ".npy"));
    GDN_CHECK(array.has_value());
    return *std::move(array);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace gdn
