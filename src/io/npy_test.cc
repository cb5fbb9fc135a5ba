// SPDX-License-Identifier: Apache-2.0
#include "io/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace gdn {
namespace {

// A file as numpy writes it; version 1 unless said otherwise.
std::string NpyFile(const std::string& header, const std::string& data, int version = 1) {
  std::string out("\x93NUMPY", 6);
  out += static_cast<char>(version);
  out += '\0';
  const auto length = static_cast<uint32_t>(header.size());
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte) {
    out += static_cast<char>((length >> (8 * byte)) & 0xFF);
  }
  return out + header + data;
}

std::string HeaderOf(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }   \n";
}

template <class T>
std::string BytesOf(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

TEST(Npy, ReadsEveryElementType) {
  const Result<OwnedTensor> f32 =
      ParseNpy(NpyFile(HeaderOf("<f4", "(2, 1)"), BytesOf<float>({1.5F, -2})), "x");
  ASSERT_TRUE(f32.ok()) << f32.status().message();
  EXPECT_EQ(f32->view.shape, (Shape{2, 1}));
  EXPECT_EQ(f32->view.As<float>()[1], -2);
  const Result<OwnedTensor> bf16 =
      ParseNpy(NpyFile(HeaderOf("<u2", "(1,)"), BytesOf<uint16_t>({0x3F80})), "x");
  EXPECT_EQ(ToF32(bf16.value().view.As<Bf16>()[0]), 1);
  const Result<OwnedTensor> f16 =
      ParseNpy(NpyFile(HeaderOf("<f2", "(1,)"), BytesOf<uint16_t>({0x3C00})), "x");
  EXPECT_EQ(ToF32(f16.value().view.As<F16>()[0]), 1);
  const Result<OwnedTensor> i64 =
      ParseNpy(NpyFile(HeaderOf("<i8", "(2,)"), BytesOf<int64_t>({-7, 1LL << 30})), "x");
  EXPECT_EQ(i64.value().view.As<int32_t>()[0], -7);
  const Result<OwnedTensor> i32 =
      ParseNpy(NpyFile(HeaderOf("<i4", "()"), BytesOf<int32_t>({9})), "x");
  EXPECT_EQ(i32.value().view.shape.rank(), 0);
  EXPECT_EQ(i32.value().view.As<int32_t>()[0], 9);
  const Result<OwnedTensor> flags = ParseNpy(NpyFile(HeaderOf("|b1", "(3,)"), {"\1\0\2", 3}), "x");
  EXPECT_EQ(flags.value().view.As<int32_t>()[2], 1);
  EXPECT_EQ(flags.value().view.As<int32_t>()[1], 0);
}

TEST(Npy, ReadsLongHeadersAndEmptyArrays) {
  for (const int version : {1, 2, 3}) {
    const Result<OwnedTensor> empty =
        ParseNpy(NpyFile(HeaderOf("<f4", "(0, 7)"), "", version), "x");
    ASSERT_TRUE(empty.ok()) << empty.status().message();
    EXPECT_EQ(empty->view.shape, (Shape{0, 7}));
  }
}

TEST(Npy, RefusesWhatItIsNot) {
  const std::string data = BytesOf<float>({1, 2});
  const struct {
    std::string bytes;
    const char* word;
  } cases[] = {
      {"", "not a .npy"},
      {"\x93NUMPY", "not a .npy"},
      {NpyFile(HeaderOf("<f4", "(2,)"), data).substr(0, 30), "cut short"},
      {NpyFile(HeaderOf("<f4", "(2,)"), data, 9), "version"},
      {NpyFile(HeaderOf(">f4", "(2,)"), data), "descr"},
      {NpyFile(HeaderOf("<f8", "(1,)"), data), "descr"},
      {NpyFile("{'descr': '<f4', 'fortran_order': True, 'shape': (2,), }", data), "fortran_order"},
      {NpyFile("{'descr': '<f4', 'shape': (2,), }", data), "keys"},
      {NpyFile("{'descr': '<f4', 'x': 1}", data), "keys"},
      {NpyFile("{", data), "key"},
      {NpyFile("[]", data), "dict"},
      {NpyFile(HeaderOf("<f4", "(-2,)"), data), "negative"},
      {NpyFile(HeaderOf("<f4", "(1, 1, 1, 1, 1, 2)"), data), "5 dimensions"},
      {NpyFile(HeaderOf("<f4", "(2 3)"), data), "comma"},
      {NpyFile(HeaderOf("<f4", "(3,)"), data), "wants 12"},
      {NpyFile(HeaderOf("<f4", "(4611686018427387904, 4)"), data), "more than"},
      {NpyFile(HeaderOf("<f4", "(0, 4611686018427387904, 4)"), ""), "more than"},
      {NpyFile(HeaderOf("<f4", "(99999999999999999999,)"), data), "dimensions"},
      {NpyFile(HeaderOf("<i8", "(1,)"), BytesOf<int64_t>({1LL << 31})), "want an int32"},
  };
  for (const auto& c : cases) {
    const Result<OwnedTensor> got = ParseNpy(c.bytes, "the_file");
    ASSERT_FALSE(got.ok()) << c.word;
    EXPECT_NE(got.status().message().find("the_file"), std::string::npos);
    EXPECT_NE(got.status().message().find(c.word), std::string::npos) << got.status().message();
  }
  EXPECT_EQ(ReadNpy("/nowhere/x.npy").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace gdn
