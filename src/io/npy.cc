// SPDX-License-Identifier: Apache-2.0
#include "io/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "base/copy_bytes.h"
#include "base/str.h"
#include "io/read_file.h"

namespace gdn {
namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 30;
constexpr std::string_view kMagic("\x93NUMPY", 6);

struct ElementType {
  std::string_view descr;
  size_t bytes;  // of an element in the file
  DType dtype;   // in memory
};

constexpr std::array<ElementType, 6> kTypes = {{{"<f4", 4, DType::kF32},
                                                {"<f2", 2, DType::kF16},
                                                {"<u2", 2, DType::kBf16},
                                                {"<i4", 4, DType::kI32},
                                                {"<i8", 8, DType::kI32},
                                                {"|b1", 1, DType::kI32}}};

struct Header {
  const ElementType* type = nullptr;
  Shape shape;
};

// The Python dict literal of the header, as numpy writes it: three keys, in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file_name)
      : text_(text), file_name_(file_name) {}

  Result<Header> Parse() {
    Header header;
    bool has_order = false;
    bool has_shape = false;
    if (!Take('{')) return Error("a dict");
    while (!Take('}')) {
      const std::optional<std::string_view> key = TakeString();
      if (!key || !Take(':')) return Error("a key and a colon");
      if (*key == "descr") {
        GDN_ASSIGN_OR_RETURN(header.type, TakeType());
      } else if (*key == "fortran_order") {
        if (!TakeWord("False")) return Error("fortran_order False");
        has_order = true;
      } else if (*key == "shape") {
        GDN_ASSIGN_OR_RETURN(header.shape, TakeShape());
        has_shape = true;
      } else {
        return Error("no other keys than descr, fortran_order and shape");
      }
      if (!Take(',') && Peek() != '}') return Error("a comma");
    }
    if (header.type == nullptr || !has_order || !has_shape) {
      return Error("the keys descr, fortran_order and shape");
    }
    return header;
  }

 private:
  Status Error(const char* want) const {
    return InvalidArgument(StrCat(file_name_, ": .npy header is ", Quoted(text_), ", want ", want));
  }
  char Peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word) {
    Peek();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::optional<std::string_view> TakeString() {
    if (!Take('\'')) return std::nullopt;
    const size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view out = text_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }
  Result<const ElementType*> TakeType() {
    const std::optional<std::string_view> descr = TakeString();
    for (const ElementType& type : kTypes) {
      if (descr == type.descr) return &type;
    }
    return Error("descr one of <f4 <f2 <u2 <i4 <i8 |b1");
  }
  Result<Shape> TakeShape() {
    Shape shape;
    if (!Take('(')) return Error("a tuple as shape");
    while (!Take(')')) {
      Peek();
      int64_t dim = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0 || shape.rank() == kMaxRank) {
        return Error("at most 5 dimensions, none negative");
      }
      shape.Append(dim);
      at_ += static_cast<size_t>(end - begin);
      if (!Take(',') && Peek() != ')') return Error("a comma");
    }
    return shape;
  }

  std::string_view text_;
  const std::string& file_name_;
  size_t at_ = 0;
};

// The bytes before the data, or 0 where this is no .npy file.
size_t HeaderEnd(std::string_view bytes, size_t& header_begin) {
  if (bytes.size() < 12 || !bytes.starts_with(kMagic)) return 0;
  const auto byte = [&](size_t i) { return size_t{static_cast<unsigned char>(bytes[i])}; };
  const size_t version = byte(6);
  if (version < 1 || version > 3) return 0;
  header_begin = version == 1 ? 10 : 12;
  size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  return length <= bytes.size() - header_begin ? header_begin + length : 0;
}

Status CopyElements(std::string_view data, const ElementType& type, const std::string& file_name,
                    const Tensor& out) {
  if (type.bytes == SizeOf(type.dtype)) {
    CopyBytes(out.data, data.data(), data.size());
    return OkStatus();
  }
  auto* to = out.As<int32_t>();
  for (size_t i = 0; i * type.bytes < data.size(); ++i) {
    int64_t value = data[i * type.bytes] != 0 ? 1 : 0;
    if (type.bytes == sizeof(int64_t)) {
      std::memcpy(&value, data.data() + i * sizeof(int64_t), sizeof(int64_t));
    }
    if (value < std::numeric_limits<int32_t>::min() ||
        value > std::numeric_limits<int32_t>::max()) {
      return InvalidArgument(StrCat(file_name, ": element ", i, " is ", value, ", want an int32"));
    }
    to[i] = static_cast<int32_t>(value);
  }
  return OkStatus();
}

}  // namespace

Result<OwnedTensor> ParseNpy(std::string_view bytes, const std::string& file_name) {
  size_t header_begin = 0;
  const size_t data_begin = HeaderEnd(bytes, header_begin);
  if (data_begin == 0) {
    return InvalidArgument(
        StrCat(file_name, ": is not a .npy file of version 1 to 3, or its header is cut short"));
  }
  GDN_ASSIGN_OR_RETURN(
      const Header header,
      HeaderParser(bytes.substr(header_begin, data_begin - header_begin), file_name).Parse());
  const std::string_view data = bytes.substr(data_begin);
  uint64_t want_bytes = header.type->bytes;
  bool fits = true;
  bool has_elements = true;
  for (int axis = 0; axis < header.shape.rank(); ++axis) {
    // An extent of 0 must not hide a product of the others that overflows.
    const auto dim = static_cast<uint64_t>(std::max<int64_t>(header.shape[axis], 1));
    fits = fits && !__builtin_mul_overflow(want_bytes, dim, &want_bytes) &&
           want_bytes < uint64_t{1} << 62;
    has_elements = has_elements && header.shape[axis] > 0;
  }
  if (!has_elements) want_bytes = 0;
  if (!fits || want_bytes != data.size()) {
    return InvalidArgument(StrCat(file_name, ": holds ", data.size(), " bytes of data, its shape ",
                                  header.shape.ToString(), " of ", header.type->descr, " wants ",
                                  fits ? StrCat(want_bytes) : "more than 2^62"));
  }
  GDN_ASSIGN_OR_RETURN(OwnedTensor out, OwnedTensor::Allocate(header.type->dtype, header.shape,
                                                              "the array of a .npy file"));
  GDN_RETURN_IF_ERROR(CopyElements(data, *header.type, file_name, out.view));
  return out;
}

Result<OwnedTensor> ReadNpy(const std::string& path) {
  GDN_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxFileBytes));
  return ParseNpy(bytes, path);
}

}  // namespace gdn
