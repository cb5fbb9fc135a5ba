// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/str.h"
#include "io/json_file.h"
#include "io/safetensors_header.h"

namespace gdn {
namespace {

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";
// Each shard costs a mapping; the largest published checkpoints have some 200.
constexpr size_t kMaxShards = 4096;

using TensorsOfShard = std::map<std::string, std::vector<std::string>>;

// A name that stays inside the folder, so that the index cannot reach other files of the machine,
// and that can be shown.
bool IsPlainFileName(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return c != '/' && c != '\\' && c != 0x7F && static_cast<unsigned char>(c) >= 0x20;
  });
  return plain && !name.empty() && name != "." && name != ".." && name.size() <= 255;
}

Result<TensorsOfShard> ReadIndex(const std::string& path) {
  JsonLimits limits;
  limits.max_bytes = size_t{100} << 20;
  GDN_ASSIGN_OR_RETURN(const nlohmann::json index, ReadJsonFile(path, limits));
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (map == index.end() || !map->is_object()) {
    return InvalidArgument(
        StrCat(path, ": has no object weight_map, must name each tensor's file"));
  }
  TensorsOfShard shards;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) {
      return InvalidArgument(StrCat(path, ": weight_map of ", Quoted(tensor), " is ",
                                    file.type_name(), ", must be a file name"));
    }
    const auto name = file.get<std::string>();
    if (!IsPlainFileName(name)) {
      return InvalidArgument(StrCat(path, ": weight_map of ", Quoted(tensor), " is ", Quoted(name),
                                    ", must be the name of a file in the same folder"));
    }
    shards[name].push_back(tensor);
    if (shards.size() > kMaxShards) {
      return InvalidArgument(StrCat(path, ": names more than ", kMaxShards, " files"));
    }
  }
  if (shards.empty()) return InvalidArgument(path + ": weight_map is empty");
  return shards;
}

auto LowerBound(std::span<const SafetensorsInfo> sorted, std::string_view name) {
  return std::lower_bound(
      sorted.begin(), sorted.end(), name,
      [](const SafetensorsInfo& info, std::string_view wanted) { return info.name < wanted; });
}

const SafetensorsInfo* FindSorted(std::span<const SafetensorsInfo> sorted, std::string_view name) {
  const auto it = LowerBound(sorted, name);
  return it != sorted.end() && it->name == name ? &*it : nullptr;
}

}  // namespace

std::string SafetensorsInfo::Describe() const {
  std::string out = dtype + " [";
  for (size_t i = 0; i < shape.size(); ++i) StrAppend(out, StrCat(i == 0 ? "" : ", ", shape[i]));
  return out + "]";
}

std::optional<DType> SafetensorsInfo::ReadableDType() const {
  if (dtype == "BF16") return DType::kBf16;
  if (dtype == "F16") return DType::kF16;
  if (dtype == "F32") return DType::kF32;
  return std::nullopt;
}

Result<SafetensorsCheckpoint> SafetensorsCheckpoint::Open(const std::string& dir) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(dir, ignored)) {
    return NotFound(StrCat(dir, ": no such folder, must be a checkpoint's folder"));
  }
  SafetensorsCheckpoint out;
  out.dir_ = dir;
  const std::string index_path = StrCat(dir, "/", kIndexFile);
  const bool has_index = std::filesystem::exists(index_path, ignored);
  TensorsOfShard shards;
  if (has_index) {
    GDN_ASSIGN_OR_RETURN(shards, ReadIndex(index_path));
  } else if (std::filesystem::exists(StrCat(dir, "/", kSingleFile), ignored)) {
    shards[kSingleFile];
  } else {
    return NotFound(StrCat(dir, ": has no weights, must have ", kSingleFile, " or ", kIndexFile));
  }

  for (auto& [file_name, names] : shards) {
    const std::string path = StrCat(dir, "/", file_name);
    auto file = MappedFile::Open(path);
    if (!file.ok() && has_index) {
      return Status(file.status().code(),
                    StrCat(file.status().message(), " (", kIndexFile, " names it)"));
    }
    GDN_RETURN_IF_ERROR(file.status());
    const int shard = static_cast<int>(out.files_.size());
    out.files_.push_back(std::move(file).value());
    GDN_ASSIGN_OR_RETURN(std::vector<SafetensorsInfo> found,
                         ParseSafetensorsHeader(out.files_.back().bytes(), dir, file_name));
    for (SafetensorsInfo& info : found) info.shard = shard;
    if (!has_index) {
      out.tensors_ = std::move(found);
      continue;
    }
    for (const std::string& name : names) {
      const SafetensorsInfo* info = FindSorted(found, name);
      if (info == nullptr) {
        return InvalidArgument(StrCat(path, ": has no tensor ", Quoted(name), ", but ", kIndexFile,
                                      " says that it is there"));
      }
      out.tensors_.push_back(*info);
    }
  }
  std::sort(out.tensors_.begin(), out.tensors_.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

const SafetensorsInfo* SafetensorsCheckpoint::Info(std::string_view name) const {
  return FindSorted(tensors_, name);
}

Result<ConstTensor> SafetensorsCheckpoint::Find(std::string_view name) const {
  const SafetensorsInfo* info = Info(name);
  if (info == nullptr) return NotFound(StrCat(dir_, ": has no tensor ", Quoted(name)));
  const auto unsupported = [&](const std::string& must) {
    return Unsupported(StrCat(files_[static_cast<size_t>(info->shard)].path(), ": tensor ",
                              Quoted(name), " is ", info->Describe(), must));
  };
  const std::optional<DType> dtype = info->ReadableDType();
  if (!dtype) return unsupported(", must be F32, F16 or BF16");
  if (info->shape.size() > kMaxRank) {
    return unsupported(StrCat(", must have at most ", kMaxRank, " axes"));
  }
  if (info->begin_byte % SizeOf(*dtype) != 0) {
    return unsupported(StrCat(" at byte ", info->begin_byte,
                              " of the file, must start at a multiple of ", SizeOf(*dtype),
                              ": save the file again with a current writer"));
  }
  Shape shape;
  for (const int64_t dim : info->shape) shape.Append(dim);
  const auto bytes = files_[static_cast<size_t>(info->shard)].bytes();
  return ConstTensor(static_cast<const void*>(bytes.data() + info->begin_byte), *dtype, shape);
}

void SafetensorsCheckpoint::DropPages(const ConstTensor& rows) const {
  GDN_CHECK(rows.IsContiguous());
  const auto* begin = static_cast<const std::byte*>(rows.data);
  const size_t bytes = static_cast<size_t>(rows.shape.NumElements()) * SizeOf(rows.dtype);
  const auto holds = [&](const MappedFile& file) {
    const std::byte* base = file.bytes().data();
    return std::less_equal<>()(base, begin) &&
           std::less_equal<>()(begin + bytes, base + file.bytes().size());
  };
  const auto file = std::find_if(files_.begin(), files_.end(), holds);
  GDN_CHECK(file != files_.end());
  file->DropPages(begin, bytes);
}

}  // namespace gdn
