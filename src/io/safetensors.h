// SPDX-License-Identifier: Apache-2.0
// A checkpoint folder in the safetensors form: one model.safetensors, or shards and an index.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "io/mapped_file.h"
#include "tensor/tensor.h"

namespace gdn {

// One tensor as its file describes it. Any dtype and rank may be listed; Find() reads some.
struct SafetensorsInfo {
  std::string name;
  std::string dtype;  // the file's word: "BF16", "F8_E4M3"
  std::vector<int64_t> shape;
  std::string file;  // the file's name inside the folder
  uint64_t begin_byte = 0;
  uint64_t size_bytes = 0;
  int shard = 0;  // which of the mapped files

  // "BF16 [7, 4]"
  std::string Describe() const;
  // The dtype where it is one that Find() reads.
  std::optional<DType> ReadableDType() const;
};

// Everything that a header says is checked by Open: the sizes, that each range lies inside its
// file and has the bytes that its shape needs, that no two tensors share a byte. Move only.
class SafetensorsCheckpoint {
 public:
  // model.safetensors.index.json decides where there is one: the tensors are those of its
  // weight_map, and a shard may hold others, which stay unseen.
  // Errors: kNotFound for a missing folder or file, kInvalidArgument for what a file says.
  static Result<SafetensorsCheckpoint> Open(const std::string& dir);

  const std::string& dir() const { return dir_; }
  // Sorted by name.
  std::span<const SafetensorsInfo> tensors() const { return tensors_; }
  // nullptr where there is none. Valid as long as this object, through moves.
  const SafetensorsInfo* Info(std::string_view name) const;
  bool Contains(std::string_view name) const { return Info(name) != nullptr; }

  // A contiguous view of the mapped file, valid as long as this object, through moves.
  // Errors: kNotFound; kUnsupported for a dtype that is not F32, F16 or BF16, for a rank above
  // kMaxRank, and for data that is not aligned to its element size (no known writer of such
  // models leaves it so, and a silent copy would double the memory).
  Result<ConstTensor> Find(std::string_view name) const;

  // Gives the pages of a view (or of a slice of its rows) from Find() back to the system; they
  // are read from the file again when touched.
  void DropPages(const ConstTensor& rows) const;

 private:
  std::string dir_;
  std::vector<MappedFile> files_;
  std::vector<SafetensorsInfo> tensors_;
};

}  // namespace gdn
