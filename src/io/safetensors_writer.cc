// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors_writer.h"

#include <array>
#include <cstdint>
#include <set>
#include <utility>

#include "base/str.h"
#include "io/json_file.h"
#include "io/open_file.h"

namespace gdn {
namespace {

constexpr size_t kAlignment = 64;

const char* FileWord(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "F32";
    case DType::kF16:
      return "F16";
    case DType::kBf16:
      return "BF16";
    case DType::kI32:
      return "I32";
  }
  return "";
}

// A name that is not UTF-8 would throw; no tensor of ours has one.
std::string QuotedJson(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// With the data's size. Built by hand so that entries keep their order.
std::string Header(std::span<const SafetensorsEntry> entries, uint64_t& data_bytes) {
  data_bytes = 0;
  std::string out = "{";
  for (const SafetensorsEntry& entry : entries) {
    nlohmann::json value = {{"dtype", FileWord(entry.dtype)}, {"shape", nlohmann::json::array()}};
    for (int axis = 0; axis < entry.shape.rank(); ++axis)
      value["shape"].push_back(entry.shape[axis]);
    const uint64_t begin = data_bytes;
    data_bytes += static_cast<uint64_t>(entry.shape.NumElements()) * SizeOf(entry.dtype);
    value["data_offsets"] = {begin, data_bytes};
    StrAppend(out, StrCat(out.size() > 1 ? "," : "", QuotedJson(entry.name), ":", value.dump()));
  }
  out += "}";
  const size_t end = sizeof(uint64_t) + out.size();
  out.append((end + kAlignment - 1) / kAlignment * kAlignment - end, ' ');
  return out;
}

}  // namespace

Result<SafetensorsWriter> SafetensorsWriter::Create(const std::string& path,
                                                    std::span<const SafetensorsEntry> entries) {
  std::set<std::string_view> names;
  for (const SafetensorsEntry& entry : entries) {
    if (!names.insert(entry.name).second) {
      return InvalidArgument(StrCat(path, ": tensor ", Quoted(entry.name), " is given twice"));
    }
  }
  SafetensorsWriter out;
  out.path_ = path;
  out.file_.reset(std::fopen(path.c_str(), "wb"));
  if (out.file_ == nullptr) return SystemError(path, "cannot be created");
  uint64_t data_bytes = 0;
  const std::string header = Header(entries, data_bytes);
  std::array<std::byte, sizeof(uint64_t)> length{};
  for (size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<std::byte>((uint64_t{header.size()} >> (8 * i)) & 0xFF);
  }
  out.remaining_bytes_ = length.size() + header.size() + data_bytes;
  GDN_RETURN_IF_ERROR(out.Append(length));
  GDN_RETURN_IF_ERROR(out.Append(std::as_bytes(std::span(header))));
  return out;
}

Status SafetensorsWriter::Append(std::span<const std::byte> bytes) {
  if (bytes.size() > remaining_bytes_) {
    return InvalidArgument(StrCat(path_, ": ", bytes.size(), " bytes appended, must be at most ",
                                  remaining_bytes_, " more"));
  }
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    return SystemError(path_, "cannot be written");
  }
  remaining_bytes_ -= bytes.size();
  return OkStatus();
}

Status SafetensorsWriter::Finish() {
  if (remaining_bytes_ != 0) {
    return InvalidArgument(StrCat(path_, ": ", remaining_bytes_, " bytes of tensors are missing"));
  }
  if (std::fclose(file_.release()) != 0) return SystemError(path_, "cannot be written");
  return OkStatus();
}

}  // namespace gdn
