// SPDX-License-Identifier: Apache-2.0
#include "io/mapped_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "base/check.h"
#include "io/open_file.h"

namespace gdn {

void internal::UnmapFile::operator()(const std::byte* data) const {
  munmap(const_cast<std::byte*>(data), bytes);
}

Result<MappedFile> MappedFile::Open(const std::string& path) {
  GDN_ASSIGN_OR_RETURN(const OpenedFile file, OpenRegularFile(path));
  if (file.size_bytes == 0) return InvalidArgument(path + ": the file is empty");
  void* data = mmap(nullptr, file.size_bytes, PROT_READ, MAP_PRIVATE, file.fd.get(), 0);
  if (data == MAP_FAILED) return SystemError(path, "cannot be mapped");
  MappedFile out;
  out.path_ = path;
  out.data_ = decltype(out.data_)(static_cast<const std::byte*>(data),
                                  internal::UnmapFile{file.size_bytes});
  return out;
}

void MappedFile::DropPages(const void* begin, size_t bytes) const {
  const auto* base = data_.get();
  const auto* first = static_cast<const std::byte*>(begin);
  GDN_CHECK(std::less_equal<>()(base, first) &&
            static_cast<size_t>(first - base) <= this->bytes().size() &&
            bytes <= this->bytes().size() - static_cast<size_t>(first - base));
  // The mapping starts on a page.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto offset = static_cast<size_t>(first - base);
  const size_t from = (offset + page - 1) / page * page;
  const size_t to = (offset + bytes) / page * page;
  // It is advice: where the system refuses, the pages only stay longer.
  if (from < to) madvise(const_cast<std::byte*>(base) + from, to - from, MADV_DONTNEED);
}

}  // namespace gdn
