// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "base/str.h"
#include "io/json_file.h"

namespace gdn {
namespace {

constexpr size_t kLengthBytes = 8;
// The cap of the reference implementation; a checkpoint of 30,000 tensors has some 5 MiB.
constexpr uint64_t kMaxHeaderBytes = uint64_t{100} << 20;

// Bounds of what is kept and shown of an entry; nothing real comes near.
constexpr size_t kMaxDTypeLength = 32;
constexpr size_t kMaxAxes = 64;

struct DTypeBits {
  std::string_view name;
  uint64_t bits;
};
constexpr auto kKnownDTypes = std::to_array<DTypeBits>({
    {"BOOL", 8},    {"U8", 8},   {"I8", 8},      {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"F8_E8M0", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"I16", 16},
    {"U16", 16},    {"F16", 16}, {"BF16", 16},   {"I32", 32},    {"U32", 32},
    {"F32", 32},    {"I64", 64}, {"U64", 64},    {"F64", 64},    {"C64", 64},
});

// Describes one entry and checks it against itself and the file.
class EntryReader {
 public:
  EntryReader(std::string where, uint64_t data_begin, uint64_t file_bytes)
      : where_(std::move(where)), data_begin_(data_begin), file_bytes_(file_bytes) {}

  Status Read(const nlohmann::json& json, SafetensorsInfo& out) const {
    if (!json.is_object()) return Bad(StrCat("is ", json.type_name(), ", must be an object"));
    GDN_RETURN_IF_ERROR(ReadDType(json, out));
    GDN_RETURN_IF_ERROR(ReadShape(json, out));
    GDN_RETURN_IF_ERROR(ReadRange(json, out));
    return CheckSize(out);
  }

 private:
  Status Bad(const std::string& what) const { return InvalidArgument(StrCat(where_, " ", what)); }

  Status ReadDType(const nlohmann::json& json, SafetensorsInfo& out) const {
    const auto it = json.find("dtype");
    if (it == json.end() || !it->is_string()) {
      return Bad(
          StrCat("has ", it == json.end() ? "no" : it->type_name(), " dtype, must have a string"));
    }
    out.dtype = it->get<std::string>();
    const bool is_word = std::all_of(out.dtype.begin(), out.dtype.end(), [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    if (!is_word || out.dtype.empty() || out.dtype.size() > kMaxDTypeLength) {
      return Bad(StrCat("has dtype ", Quoted(out.dtype), ", must be a word such as BF16"));
    }
    return OkStatus();
  }

  Status ReadShape(const nlohmann::json& json, SafetensorsInfo& out) const {
    const auto it = json.find("shape");
    if (it == json.end() || !it->is_array()) {
      return Bad(
          StrCat("has ", it == json.end() ? "no" : it->type_name(), " shape, must have an array"));
    }
    if (it->size() > kMaxAxes) {
      return Bad(StrCat("has ", it->size(), " axes, must have at most ", kMaxAxes));
    }
    for (const nlohmann::json& dim : *it) {
      // Non-negative integers parse as unsigned, others do not.
      if (!dim.is_number_unsigned() ||
          dim.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}) {
        return Bad(StrCat("has ", Quoted(dim.dump(-1, ' ', true)),
                          " in its shape, must be an integer from 0 to 2^63 - 1"));
      }
      out.shape.push_back(dim.get<int64_t>());
    }
    return OkStatus();
  }

  Status ReadRange(const nlohmann::json& json, SafetensorsInfo& out) const {
    const auto it = json.find("data_offsets");
    if (it == json.end() || !it->is_array() || it->size() != 2 || !(*it)[0].is_number_unsigned() ||
        !(*it)[1].is_number_unsigned()) {
      return Bad(StrCat("has data_offsets ",
                        it == json.end() ? "nowhere" : Quoted(it->dump(-1, ' ', true)),
                        ", must be two non-negative integers"));
    }
    const auto begin = (*it)[0].get<uint64_t>();
    const auto end = (*it)[1].get<uint64_t>();
    const uint64_t data_bytes = file_bytes_ - data_begin_;
    if (begin > end || end > data_bytes) {
      return Bad(StrCat("has data_offsets [", begin, ", ", end,
                        "], must be ordered and inside the ", data_bytes,
                        " bytes of data that the file has"));
    }
    out.begin_byte = data_begin_ + begin;
    out.size_bytes = end - begin;
    return OkStatus();
  }

  Status CheckSize(const SafetensorsInfo& info) const {
    const auto* known = std::find_if(kKnownDTypes.begin(), kKnownDTypes.end(),
                                     [&](const DTypeBits& d) { return d.name == info.dtype; });
    // Of a dtype that is newer than this list the size cannot be known, nor does anyone read it.
    if (known == kKnownDTypes.end()) return OkStatus();
    uint64_t bits = known->bits;
    for (const int64_t dim : info.shape) {
      if (__builtin_mul_overflow(bits, static_cast<uint64_t>(dim), &bits)) {
        return Bad(StrCat("is ", info.Describe(), ", which is more than any file can hold"));
      }
    }
    if (bits % 8 != 0 || bits / 8 != info.size_bytes) {
      return Bad(StrCat("is ", info.Describe(), ", which needs ", (bits + 7) / 8,
                        " bytes, but data_offsets give it ", info.size_bytes));
    }
    return OkStatus();
  }

  std::string where_;
  uint64_t data_begin_;
  uint64_t file_bytes_;
};

Status CheckOverlaps(const std::vector<SafetensorsInfo>& tensors, const std::string& path) {
  std::vector<const SafetensorsInfo*> by_position;
  for (const SafetensorsInfo& info : tensors) {
    if (info.size_bytes > 0) by_position.push_back(&info);
  }
  std::sort(by_position.begin(), by_position.end(),
            [](const auto* a, const auto* b) { return a->begin_byte < b->begin_byte; });
  for (size_t i = 1; i < by_position.size(); ++i) {
    const SafetensorsInfo& before = *by_position[i - 1];
    if (before.begin_byte + before.size_bytes > by_position[i]->begin_byte) {
      return InvalidArgument(StrCat(path, ": tensors ", Quoted(before.name), " and ",
                                    Quoted(by_position[i]->name),
                                    " overlap, must lie apart from each other"));
    }
  }
  return OkStatus();
}

}  // namespace

Result<std::vector<SafetensorsInfo>> ParseSafetensorsHeader(std::span<const std::byte> file,
                                                            const std::string& dir,
                                                            const std::string& file_name) {
  const std::string path = dir.empty() ? file_name : StrCat(dir, "/", file_name);
  if (file.size() < kLengthBytes) {
    return InvalidArgument(
        StrCat(path, ": has ", file.size(), " bytes, a safetensors file must have at least 8"));
  }
  uint64_t header_bytes = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    header_bytes |= std::to_integer<uint64_t>(file[i]) << (8 * i);
  }
  const uint64_t room = std::min<uint64_t>(file.size() - kLengthBytes, kMaxHeaderBytes);
  if (header_bytes > room) {
    return InvalidArgument(
        StrCat(path, ": says its header has ", header_bytes, " bytes (", HumanBytes(header_bytes),
               "), must be at most ", room,
               room == kMaxHeaderBytes ? "" : ": the file is cut short or no safetensors file"));
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                              header_bytes);
  JsonLimits limits;
  limits.max_bytes = kMaxHeaderBytes;
  GDN_ASSIGN_OR_RETURN(const nlohmann::json header, ParseJson(text, path + ": header", limits));
  if (!header.is_object()) {
    return InvalidArgument(
        StrCat(path, ": header is JSON ", header.type_name(), ", must be an object"));
  }

  std::vector<SafetensorsInfo> tensors;
  tensors.reserve(header.size());
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    SafetensorsInfo& info = tensors.emplace_back();
    info.name = name;
    info.file = file_name;
    const EntryReader reader(StrCat(path, ": tensor ", Quoted(name)), kLengthBytes + header_bytes,
                             file.size());
    GDN_RETURN_IF_ERROR(reader.Read(entry, info));
  }
  // std::map's order is by name already, whatever the locale; other object types need not be.
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  GDN_RETURN_IF_ERROR(CheckOverlaps(tensors, path));
  return tensors;
}

}  // namespace gdn
