// SPDX-License-Identifier: Apache-2.0
#include "capi/boundary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gdn::capi {
namespace {

// A struct that has grown by one field since its first version.
struct Grown {
  size_t struct_size;
  int64_t first;
  int64_t later;
};

}  // namespace

template <>
struct FirstVersion<Grown> {
  static constexpr size_t kBytes = offsetof(Grown, first) + sizeof(int64_t);
};

namespace {

TEST(CapiBoundary, EveryExceptionBecomesAStatus) {
  EXPECT_EQ(Guard([]() -> Status { throw std::bad_alloc(); }), GDN_OUT_OF_MEMORY);
  EXPECT_STREQ(gdn_last_error(), "out of memory");
  EXPECT_EQ(Guard([]() -> Status {
              std::vector<int> numbers;
              numbers.reserve(numbers.max_size() + 1);
              return OkStatus();
            }),
            GDN_OUT_OF_MEMORY);
  EXPECT_EQ(Guard([]() -> Status { throw std::runtime_error("why"); }), GDN_INTERNAL);
  EXPECT_STREQ(gdn_last_error(), "why");
  EXPECT_EQ(Guard([]() -> Status { throw 7; }), GDN_INTERNAL);
  EXPECT_STREQ(gdn_last_error(), "an exception of unknown type");
}

TEST(CapiBoundary, EveryStatusHasItsCode) {
  const auto code_of = [](const Status& status) { return Guard([&] { return status; }); };
  EXPECT_EQ(code_of(OkStatus()), GDN_OK);
  EXPECT_EQ(code_of(InvalidArgument("a")), GDN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(NotFound("a")), GDN_NOT_FOUND);
  EXPECT_EQ(code_of(OutOfMemory("a")), GDN_OUT_OF_MEMORY);
  EXPECT_EQ(code_of(Unsupported("a")), GDN_UNSUPPORTED);
  EXPECT_EQ(code_of(Cancelled("a")), GDN_CANCELLED);
  EXPECT_EQ(code_of(Internal("a")), GDN_INTERNAL);
}

TEST(CapiBoundary, LastErrorIsTheThreadsOwnAndStaysAfterSuccess) {
  EXPECT_EQ(Fail(GDN_INTERNAL, "mine"), GDN_INTERNAL);
  std::thread([] {
    EXPECT_STREQ(gdn_last_error(), "");
    Fail(GDN_INTERNAL, "other");
  }).join();
  EXPECT_EQ(Guard([] { return OkStatus(); }), GDN_OK);
  EXPECT_STREQ(gdn_last_error(), "mine");
}

TEST(CapiBoundary, LongErrorsAreCutBetweenCharacters) {
  std::string text = "a";
  while (text.size() < 4096) text += "\u00e9";
  Fail(GDN_INTERNAL, text);
  const std::string kept = gdn_last_error();
  EXPECT_EQ(kept.size(), 2047U);
  EXPECT_EQ(kept, text.substr(0, 2047));
  Fail(GDN_INTERNAL, "b" + text);  // the last character does not fit
  EXPECT_EQ(gdn_last_error(), ("b" + text).substr(0, 2046));
}

TEST(CapiBoundary, StructSizesFromTheFirstVersionToThisOneAreTaken) {
  EXPECT_FALSE(CheckStructSize<Grown>("f", 0).ok());
  EXPECT_FALSE(CheckStructSize<Grown>("f", FirstVersion<Grown>::kBytes - 1).ok());
  EXPECT_TRUE(CheckStructSize<Grown>("f", FirstVersion<Grown>::kBytes).ok());
  EXPECT_TRUE(CheckStructSize<Grown>("f", sizeof(Grown)).ok());
  EXPECT_EQ(CheckStructSize<Grown>("f", sizeof(Grown) + 1).message(),
            "f: struct_size is 25, want 16 to 24 in this library");
}

TEST(CapiBoundary, FieldsBehindACallersStructAreNeitherReadNorWritten) {
  const Grown old_caller{.struct_size = FirstVersion<Grown>::kBytes, .first = 1, .later = -1};
  Grown read{.struct_size = sizeof(Grown), .first = 10, .later = 20};
  ReadStruct(old_caller, read);
  EXPECT_EQ(read.first, 1);
  EXPECT_EQ(read.later, 20);

  Grown written{.struct_size = 0, .first = 0, .later = -1};
  WriteStruct(Grown{.struct_size = 0, .first = 3, .later = 4}, FirstVersion<Grown>::kBytes,
              &written);
  EXPECT_EQ(written.struct_size, FirstVersion<Grown>::kBytes);
  EXPECT_EQ(written.first, 3);
  EXPECT_EQ(written.later, -1);
}

TEST(CapiBoundary, AMessageIsOneLine) {
  Fail(GDN_NOT_FOUND, "a\nb\x1B[31m");
  EXPECT_STREQ(gdn_last_error(), "a b [31m");
}

}  // namespace
}  // namespace gdn::capi
