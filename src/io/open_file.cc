// SPDX-License-Identifier: Apache-2.0
#include "io/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/str.h"

namespace gdn {

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

Status SystemError(const std::string& path, const char* what) {
  const std::error_code error(errno, std::generic_category());
  return {error == std::errc::no_such_file_or_directory ? StatusCode::kNotFound
                                                        : StatusCode::kInvalidArgument,
          StrCat(path, ": ", what, ": ", error.message())};
}

Result<OpenedFile> OpenRegularFile(const std::string& path) {
  // Without O_NONBLOCK the open of a named pipe would wait for a writer.
  FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return SystemError(path, "cannot be opened");
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return SystemError(path, "cannot be read");
  if (!S_ISREG(info.st_mode)) {
    return InvalidArgument(StrCat(path, ": is ",
                                  S_ISDIR(info.st_mode) ? "a folder" : "no regular file",
                                  ", must be a regular file"));
  }
  return OpenedFile{std::move(fd), static_cast<size_t>(info.st_size)};
}

}  // namespace gdn
