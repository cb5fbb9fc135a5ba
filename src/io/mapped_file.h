// SPDX-License-Identifier: Apache-2.0
// A file mapped read-only into memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace gdn {

namespace internal {
struct UnmapFile {
  size_t bytes = 0;
  void operator()(const std::byte* data) const;
};
}  // namespace internal

// Move only. The bytes stay where they are when the object moves. They are the file's own pages:
// a file that another process cuts short while it is mapped ends this one (SIGBUS).
class MappedFile {
 public:
  // Errors: kNotFound (no such file), kInvalidArgument (not a regular file, empty, no permission),
  // each naming the path.
  static Result<MappedFile> Open(const std::string& path);

  std::span<const std::byte> bytes() const { return {data_.get(), data_.get_deleter().bytes}; }
  const std::string& path() const { return path_; }

  // Gives the memory of the whole pages inside [begin, begin + bytes) back; a later read fetches
  // them from the file again. For weights that have been repacked. The range lies in bytes().
  void DropPages(const void* begin, size_t bytes) const;

 private:
  std::string path_;
  std::unique_ptr<const std::byte, internal::UnmapFile> data_;
};

}  // namespace gdn
