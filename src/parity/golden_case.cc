// SPDX-License-Identifier: Apache-2.0
#include "parity/golden_case.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/copy_bytes.h"
#include "base/str.h"
#include "io/json_file.h"
#include "io/npy.h"

namespace gdn {
namespace {

using Json = nlohmann::json;

// The member of an object, or null.
const Json& Member(const Json& object, const char* key) {
  static const Json null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

std::optional<DType> DTypeOfName(const std::string& name) {
  if (name == "f32") return DType::kF32;
  if (name == "f16") return DType::kF16;
  if (name == "bf16") return DType::kBf16;
  if (name == "i32" || name == "i64" || name == "bool") return DType::kI32;
  return std::nullopt;
}

constexpr size_t kMaxTotalBytes = size_t{1} << 30;

// Noise that is larger is none: the recurrence is about 1e-5 from the reference.
constexpr double kMaxNoiseDiffer = 0.2;
constexpr double kMaxNoiseNmse = 2.5e-6;

bool IsFileName(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos && name != "." && name != "..";
}

}  // namespace

Status GoldenCase::Error(const std::string& message) const {
  return InvalidArgument(StrCat(folder_, ": ", message));
}

Result<GoldenCase> GoldenCase::Read(const std::string& folder) {
  GoldenCase out;
  out.folder_ = folder;
  std::filesystem::path path(folder);
  if (!path.has_filename()) path = path.parent_path();
  out.name_ = path.filename().string();
  GDN_ASSIGN_OR_RETURN(const Json manifest, ReadJsonFile((path / "manifest.json").string()));
  GDN_RETURN_IF_ERROR(out.ReadManifest(manifest));
  GDN_RETURN_IF_ERROR(out.ReadTensors(manifest));
  GDN_RETURN_IF_ERROR(out.ReadNoise(manifest));
  for (const std::string& output : out.outputs_) {
    if (!out.Has(output)) {
      return out.Error(StrCat("output ", Quoted(output), " is none of the manifest's tensors"));
    }
  }
  return out;
}

Status GoldenCase::MoveTo(MemorySource& memory) {
  if (&memory == &HostMemory()) return OkStatus();
  for (auto& [name, tensor] : tensors_) {
    GDN_ASSIGN_OR_RETURN(OwnedTensor moved,
                         OwnedTensor::Allocate(tensor.view.dtype, tensor.view.shape,
                                               "a tensor of a golden case", memory));
    CopyBytes(moved.view.data, tensor.view.data, tensor.storage.size_bytes());
    tensor = std::move(moved);
  }
  return OkStatus();
}

Status GoldenCase::ReadManifest(const Json& manifest) {
  if (!manifest.is_object()) return Error("manifest.json holds no object");
  const Json& op = Member(manifest, "op");
  if (!op.is_string()) return Error("manifest.json has no op, want a name");
  op_ = op.get<std::string>();
  args_ = Member(manifest, "args");
  if (args_.is_null()) args_ = Json::object();
  if (!args_.is_object()) return Error("args in manifest.json is no object");
  if (const Json& oracle = Member(manifest, "oracle"); oracle.is_object()) {
    const Json& implementation = Member(oracle, "implementation");
    if (implementation.is_string()) implementation_ = implementation.get<std::string>();
  }
  const Json& outputs = Member(manifest, "outputs");
  if (outputs.is_null()) {
    outputs_ = {"out", "state_out"};
    return OkStatus();
  }
  if (!outputs.is_array() || outputs.empty()) {
    return Error("outputs in manifest.json is neither null nor a list of at least one name");
  }
  for (const Json& output : outputs) {
    if (!output.is_string()) return Error("outputs in manifest.json holds what is no name");
    outputs_.push_back(output.get<std::string>());
  }
  return OkStatus();
}

Status GoldenCase::ReadTensors(const Json& manifest) {
  const Json& tensors = Member(manifest, "tensors");
  if (!tensors.is_object()) return Error("manifest.json has no tensors, want an object");
  for (const auto& [name, spec] : tensors.items()) {
    GDN_RETURN_IF_ERROR(ReadTensor(name, spec));
  }
  return OkStatus();
}

Status GoldenCase::ReadTensor(const std::string& name, const Json& spec) {
  const auto bad = [&](const std::string& message) {
    return Error(StrCat("tensor ", Quoted(name), ": ", message));
  };
  if (!spec.is_object()) return bad("its entry is no object");
  const Json& file = Member(spec, "file");
  const Json& dtype_name = Member(spec, "dtype");
  const Json& dims = Member(spec, "shape");
  if (!file.is_string() || !dtype_name.is_string() || !dims.is_array()) {
    return bad("want file, dtype and shape");
  }
  if (!IsFileName(file.get<std::string>())) {
    return bad(StrCat("file is ", Quoted(file.get<std::string>()), ", want a name in the folder"));
  }
  const std::optional<DType> dtype = DTypeOfName(dtype_name.get<std::string>());
  if (!dtype) {
    return bad(StrCat("dtype is ", Quoted(dtype_name.get<std::string>()),
                      ", want f32, f16, bf16, i32, i64 or bool"));
  }
  Shape shape;
  for (const Json& dim : dims) {
    if (!dim.is_number_integer() || dim.get<int64_t>() < 0 || shape.rank() == kMaxRank) {
      return bad("shape is no list of at most 5 extents");
    }
    // Nothing can be compared with it, and its other extents may be anything.
    if (dim.get<int64_t>() == 0) return bad("has no elements, want at least one");
    shape.Append(dim.get<int64_t>());
  }
  const std::filesystem::path path = std::filesystem::path(folder_) / file.get<std::string>();
  GDN_ASSIGN_OR_RETURN(OwnedTensor tensor, ReadNpy(path.string()));
  total_bytes_ += tensor.storage.size_bytes();
  if (total_bytes_ > kMaxTotalBytes) {
    return bad(StrCat("brings the case to ", HumanBytes(total_bytes_), ", want at most ",
                      HumanBytes(kMaxTotalBytes)));
  }
  if (tensor.view.dtype != *dtype || tensor.view.shape != shape) {
    return bad(StrCat("file holds ", Describe(tensor.view), ", manifest.json says ", Name(*dtype),
                      " ", shape.ToString()));
  }
  tensors_.emplace(name, std::move(tensor));
  return OkStatus();
}

Status GoldenCase::ReadNoise(const Json& manifest) {
  const Json& noise = Member(manifest, "noise");
  if (noise.is_null()) return OkStatus();
  if (!noise.is_object()) return Error("noise in manifest.json is no object");
  has_noise_ = true;
  for (const auto& [output, entry] : noise.items()) {
    const auto bad = [&, &name = output](const std::string& message) {
      return Error(StrCat("noise of ", Quoted(name), " ", message));
    };
    if (!entry.is_object()) return bad("is no object");
    if (!Has(output) && output != "chunk_fwd_h" && output != "chunk_fwd_o") {
      return bad("is of no tensor of the case");
    }
    for (const auto& [key, value] : entry.items()) {
      const bool is_nmse = key == "nmse";
      if (!is_nmse && key != "differ")
        return bad(StrCat("has ", Quoted(key), ", want differ, nmse"));
      const double largest = is_nmse ? kMaxNoiseNmse : kMaxNoiseDiffer;
      if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= largest)) {
        return bad(StrCat("holds ", key, " that is no number in 0..", largest));
      }
      (is_nmse ? noise_[output].nmse : noise_[output].differ) = value.get<double>();
    }
  }
  return OkStatus();
}

Noise GoldenCase::noise(std::string_view output) const {
  const auto found = noise_.find(output);
  return found == noise_.end() ? Noise{} : found->second;
}

bool GoldenCase::IsOutput(std::string_view tensor) const {
  return std::ranges::find(outputs_, tensor) != outputs_.end();
}

bool GoldenCase::Is16Bit() const {
  return std::ranges::any_of(
      tensors_, [](const auto& entry) { return SizeOf(entry.second.view.dtype) == 2; });
}

Result<ConstTensor> GoldenCase::Tensor(std::string_view tensor) const {
  const auto found = tensors_.find(tensor);
  if (found == tensors_.end()) {
    return Error(StrCat(op_, " wants tensor ", tensor, ", the manifest has none"));
  }
  return ConstTensor(found->second.view);
}

Result<ConstTensor> GoldenCase::Tensor(std::string_view tensor, int rank) const {
  GDN_ASSIGN_OR_RETURN(const ConstTensor out, Tensor(tensor));
  if (out.shape.rank() != rank) {
    return Error(StrCat("tensor ", tensor, " is ", Describe(out), ", want rank ", rank));
  }
  return out;
}

Result<std::vector<int32_t>> GoldenCase::Ints(std::string_view tensor) const {
  GDN_ASSIGN_OR_RETURN(const ConstTensor out, Tensor(tensor, 1));
  if (out.dtype != DType::kI32) {
    return Error(StrCat("tensor ", tensor, " is ", Describe(out), ", want integers"));
  }
  const auto* data = out.As<int32_t>();
  return std::vector<int32_t>(data, data + out.dim(0));
}

bool GoldenCase::HasArg(const char* arg) const { return !Member(args_, arg).is_null(); }

Result<int64_t> GoldenCase::IntArg(const char* arg, std::optional<int64_t> fallback) const {
  const Json& value = Member(args_, arg);
  if (value.is_null() && fallback) return *fallback;
  if (!value.is_number_integer()) return Error(StrCat("args.", arg, " is no integer"));
  return value.get<int64_t>();
}

Result<double> GoldenCase::NumberArg(const char* arg, std::optional<double> fallback) const {
  const Json& value = Member(args_, arg);
  if (value.is_null() && fallback) return *fallback;
  if (!value.is_number()) return Error(StrCat("args.", arg, " is no number"));
  return value.get<double>();
}

Result<bool> GoldenCase::BoolArg(const char* arg, std::optional<bool> fallback) const {
  const Json& value = Member(args_, arg);
  if (value.is_null() && fallback) return *fallback;
  if (!value.is_boolean()) return Error(StrCat("args.", arg, " is neither true nor false"));
  return value.get<bool>();
}

Result<std::string> GoldenCase::WordArg(const char* arg, const std::string& fallback) const {
  const Json& value = Member(args_, arg);
  if (value.is_null()) return fallback;
  if (!value.is_string()) return Error(StrCat("args.", arg, " is no word"));
  return value.get<std::string>();
}

}  // namespace gdn
