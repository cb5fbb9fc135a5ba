// SPDX-License-Identifier: Apache-2.0
// Writes one safetensors file, tensor by tensor.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/tensor.h"

namespace gdn {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
};

// The header is padded with spaces so that the data starts at a multiple of 64 bytes; tensors
// follow each other without gaps, as the format wants it. Move only.
class SafetensorsWriter {
 public:
  // Creates the file (or empties it) and writes the header. Tensors appear in the order given,
  // so entries that need more alignment should come first. Names must differ.
  static Result<SafetensorsWriter> Create(const std::string& path,
                                          std::span<const SafetensorsEntry> entries);

  // The next bytes of the data, in pieces of any size.
  Status Append(std::span<const std::byte> bytes);
  // Flushes and closes. kInvalidArgument when the bytes are not as many as the header says.
  Status Finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  uint64_t remaining_bytes_ = 0;
};

}  // namespace gdn
