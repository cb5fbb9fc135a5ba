// SPDX-License-Identifier: Apache-2.0
// Opening a regular file for reading, with errors that name it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/status.h"

namespace gdn {

// Closes a descriptor. Move only.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();

  int get() const { return fd_; }

 private:
  int fd_;
};

struct OpenedFile {
  FileDescriptor fd;
  size_t size_bytes;
};

// Errors: kNotFound (no such file), kInvalidArgument (not a regular file, no permission).
Result<OpenedFile> OpenRegularFile(const std::string& path);

// "PATH: WHAT: the system's reason" from errno.
Status SystemError(const std::string& path, const char* what);

}  // namespace gdn
