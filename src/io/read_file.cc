// SPDX-License-Identifier: Apache-2.0
#include "io/read_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/str.h"
#include "io/open_file.h"

namespace gdn {

Result<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  GDN_ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path));
  const auto too_large = [&](size_t bytes) {
    return InvalidArgument(
        StrCat(path, ": has ", HumanBytes(bytes), ", must have at most ", HumanBytes(max_bytes)));
  };
  if (file.size_bytes > max_bytes) return too_large(file.size_bytes);
  // The size is a hint: files of /proc say 0, and a file may grow while it is read.
  constexpr size_t kPiece = 64 << 10;
  std::string out;
  size_t used = 0;
  while (true) {
    out.resize(std::max(file.size_bytes + 1, used + kPiece));
    const ssize_t count = read(file.fd.get(), out.data() + used, out.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError(path, "cannot be read");
    if (count == 0) break;
    used += static_cast<size_t>(count);
    if (used > max_bytes) return too_large(used);
  }
  out.resize(used);
  return out;
}

}  // namespace gdn
