// SPDX-License-Identifier: Apache-2.0
#include "io/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "io/read_file.h"
#include "io/temp_folder.h"

namespace gdn {
namespace {

using ::testing::HasSubstr;

std::string Text(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, ShowsTheBytesOfTheFile) {
  const TempFolder folder;
  auto file = MappedFile::Open(folder.Write("a", "hello"));
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->path(), folder.File("a"));
  const std::byte* before = file->bytes().data();
  const MappedFile moved = std::move(*file);
  EXPECT_EQ(Text(moved), "hello");
  EXPECT_EQ(moved.bytes().data(), before);
}

TEST(MappedFile, NamesThePathInErrors) {
  const TempFolder folder;
  const Status missing = MappedFile::Open(folder.File("none")).status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.message(), HasSubstr(folder.File("none") + ": cannot be opened"));
  const Status directory = MappedFile::Open(folder.path()).status();
  EXPECT_EQ(directory.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(directory.message(), HasSubstr("is a folder, must be a regular file"));
  EXPECT_THAT(MappedFile::Open(folder.Write("empty", "")).status().message(),
              HasSubstr("/empty: the file is empty"));
  ASSERT_EQ(mkfifo(folder.File("pipe").c_str(), 0600), 0);
  EXPECT_THAT(MappedFile::Open(folder.File("pipe")).status().message(),
              HasSubstr("is no regular file"));
}

TEST(MappedFile, SaysThatAFileMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TempFolder folder;
  const std::string path = folder.Write("secret", "x");
  ASSERT_EQ(chmod(path.c_str(), 0), 0);
  const Status status = MappedFile::Open(path).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("secret: cannot be opened: "));
}

// Pages that hold a byte outside the range stay, the bytes are the same ones afterwards.
TEST(MappedFile, DropsWholePagesOnly) {
  const TempFolder folder;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::string text;
  for (size_t i = 0; i < 5 * page; ++i) text.push_back(static_cast<char>('a' + i % 23));
  const auto file = MappedFile::Open(folder.Write("pages", text));
  ASSERT_TRUE(file.ok());
  const std::byte* base = file->bytes().data();
  ASSERT_EQ(Text(*file), text);
  file->DropPages(base + 1, 3 * page);
  file->DropPages(base + 1, page - 2);
  file->DropPages(base, 0);
  file->DropPages(base, 5 * page);
  EXPECT_EQ(Text(*file), text);
}

TEST(MappedFile, GivesMemoryBack) {
  const TempFolder folder;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t pages = 1024;
  const auto file = MappedFile::Open(folder.Write("large", std::string(pages * page, 'x')));
  ASSERT_TRUE(file.ok());
  const auto resident = [] {
    const auto statm = ReadFile("/proc/self/statm", 4096);
    return std::stoul(statm.value().substr(statm.value().find(' ')));
  };
  ASSERT_EQ(Text(*file).size(), pages * page);
  const size_t before = resident();
  file->DropPages(file->bytes().data(), file->bytes().size());
  EXPECT_LE(resident() + pages * 3 / 4, before);
}

TEST(ReadFile, ReadsUpToItsLimit) {
  const TempFolder folder;
  const std::string text(200000, 'q');
  const std::string path = folder.Write("a", text);
  EXPECT_EQ(ReadFile(path, text.size()).value(), text);
  EXPECT_THAT(ReadFile(path, text.size() - 1).status().message(),
              HasSubstr("/a: has 195.31 KiB, must have at most 195.31 KiB"));
  EXPECT_EQ(ReadFile(folder.Write("empty", ""), 10).value(), "");
  EXPECT_EQ(ReadFile(folder.File("none"), 10).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(ReadFile(folder.path(), 10).status().message(), HasSubstr("is a folder"));
}

// Files of /proc say that they have no bytes.
TEST(ReadFile, DoesNotTrustTheSize) {
  EXPECT_THAT(ReadFile("/proc/self/status", 1 << 20).value(), HasSubstr("Name:"));
  EXPECT_FALSE(ReadFile("/proc/self/status", 8).ok());
}

}  // namespace
}  // namespace gdn
