// SPDX-License-Identifier: Apache-2.0
#include "io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/str.h"
#include "io/safetensors_header.h"
#include "io/safetensors_writer.h"
#include "io/temp_folder.h"

namespace gdn {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string LengthBytes(uint64_t length) {
  std::string out;
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>((length >> (8 * i)) & 0xFF));
  return out;
}

std::string FileOf(const std::string& header, size_t data_bytes) {
  return LengthBytes(header.size()) + header + std::string(data_bytes, '\1');
}

Status Parse(const std::string& file) {
  return ParseSafetensorsHeader(std::as_bytes(std::span(file)), "dir", "m.safetensors").status();
}

std::string Error(const std::string& header, size_t data_bytes = 16) {
  const Status status = Parse(FileOf(header, data_bytes));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << header;
  return status.message();
}

std::string Entry(const std::string& name, const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return StrCat("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":", shape,
                ",\"data_offsets\":", offsets, "}");
}

std::string One(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return StrCat("{", Entry("t", dtype, shape, offsets), "}");
}

TEST(SafetensorsHeader, ReadsWhatWritersWrite) {
  const std::string header = StrCat(
      "{\"__metadata__\":{\"format\":\"pt\"},", Entry("b", "F32", "[2,1]", "[4,12]"), ",",
      Entry("a", "BF16", "[2]", "[0,4]"), ",", Entry("c", "I64", "[]", "[12,20]"), ",",
      Entry("d", "F8_E4M3", "[0,3]", "[3,3]"), ",", Entry("e", "X99", "[9]", "[20,21]"), "}   ");
  const std::string file = FileOf(header, 21);
  const auto parsed =
      ParseSafetensorsHeader(std::as_bytes(std::span(file)), "dir", "m.safetensors");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  std::vector<std::string> shown;
  for (const auto& info : *parsed) {
    shown.push_back(StrCat(info.name, " ", info.Describe(), " ",
                           info.begin_byte - 8 - header.size(), "+", info.size_bytes));
  }
  EXPECT_THAT(shown, ElementsAre("a BF16 [2] 0+4", "b F32 [2, 1] 4+8", "c I64 [] 12+8",
                                 "d F8_E4M3 [0, 3] 3+0", "e X99 [9] 20+1"));
}

TEST(SafetensorsHeader, RefusesLengthsThatCannotBe) {
  EXPECT_THAT(Parse("1234567").message(), HasSubstr("dir/m.safetensors: has 7 bytes"));
  const Status huge = Parse(LengthBytes(uint64_t{10} << 30) + "{}");
  EXPECT_EQ(huge.message(),
            "dir/m.safetensors: says its header has 10737418240 bytes (10.00 GiB), must be at most "
            "2: the file is cut short or no safetensors file");
  EXPECT_FALSE(Parse(LengthBytes(~uint64_t{0}) + "{}").ok());
  EXPECT_FALSE(Parse(LengthBytes(3) + "{}").ok());
  EXPECT_FALSE(Parse(LengthBytes(0)).ok());
  EXPECT_TRUE(Parse(LengthBytes(2) + "{}").ok());
}

TEST(SafetensorsHeader, RefusesAFileCutAnywhere) {
  const std::string file = FileOf(
      StrCat("{", Entry("a", "BF16", "[4]", "[0,8]"), ",", Entry("b", "F32", "[2]", "[8,16]"), "}"),
      16);
  ASSERT_TRUE(Parse(file).ok());
  for (size_t size = 0; size < file.size(); ++size) {
    const Status status = Parse(file.substr(0, size));
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << size;
    EXPECT_THAT(status.message(), HasSubstr("dir/m.safetensors")) << size;
  }
}

TEST(SafetensorsHeader, NamesFileAndTensorOfABadEntry) {
  EXPECT_THAT(Error("[]"), HasSubstr("header is JSON array, must be an object"));
  EXPECT_THAT(Error("{"), HasSubstr("dir/m.safetensors: header: is not JSON"));
  EXPECT_EQ(Error("{\"t\":3}"), "dir/m.safetensors: tensor \"t\" is number, must be an object");
  EXPECT_THAT(Error("{\"t\":{\"shape\":[1],\"data_offsets\":[0,2]}}"), HasSubstr("has no dtype"));
  EXPECT_THAT(Error("{\"t\":{\"dtype\":1}}"), HasSubstr("\"t\" has number dtype"));
  for (const char* dtype : {"", "bf16", "F\\u001b[2J", "A_DTYPE_WITH_A_NAME_THAT_IS_TOO_LONG"}) {
    EXPECT_THAT(Error(One(dtype, "[1]", "[0,4]")), HasSubstr("must be a word such as BF16"));
  }
  std::string axes = "[1";
  for (int i = 0; i < 64; ++i) axes += ",1";
  EXPECT_THAT(Error(One("F32", axes + "]", "[0,4]")), HasSubstr("has 65 axes"));
  EXPECT_THAT(Error("{\"t\":{\"dtype\":\"F32\"}}"), HasSubstr("\"t\" has no shape"));
  EXPECT_THAT(Error("{\"t\":{\"dtype\":\"F32\",\"shape\":[]}}"),
              HasSubstr("\"t\" has data_offsets nowhere"));
  for (const char* shape : {"3", "{}", "\"[1]\""}) {
    EXPECT_THAT(Error(One("F32", shape, "[0,4]")), HasSubstr("shape, must have an array"));
  }
  for (const char* shape : {"[-1]", "[1.0]", "[\"1\"]", "[[1]]", "[null]", "[9223372036854775808]",
                            "[99999999999999999999]"}) {
    EXPECT_THAT(Error(One("F32", shape, "[0,4]")),
                AllOf(HasSubstr("tensor \"t\""), HasSubstr("in its shape")))
        << shape;
  }
  for (const char* offsets : {"[0]", "[0,4,8]", "[-4,0]", "[0,4.0]", "{}", "null", "[\"0\",4]"}) {
    EXPECT_THAT(Error(One("F32", "[1]", offsets)),
                AllOf(HasSubstr("tensor \"t\""), HasSubstr("two non-negative integers")))
        << offsets;
  }
}

TEST(SafetensorsHeader, RefusesDataOutsideTheFile) {
  for (const char* offsets : {"[8,4]", "[16,20]", "[0,17]", "[0,18446744073709551615]",
                              "[18446744073709551612,18446744073709551615]"}) {
    EXPECT_THAT(Error(One("F32", "[1]", offsets)), AllOf(HasSubstr("tensor \"t\" has data_offsets"),
                                                         HasSubstr("inside the 16 bytes of data")))
        << offsets;
  }
}

TEST(SafetensorsHeader, RefusesSizesThatDoNotMatchTheShape) {
  EXPECT_EQ(Error(One("BF16", "[3,2]", "[0,16]")),
            "dir/m.safetensors: tensor \"t\" is BF16 [3, 2], which needs 12 bytes, but "
            "data_offsets give it 16");
  EXPECT_THAT(Error(One("F32", "[0]", "[0,4]")), HasSubstr("needs 0 bytes"));
  EXPECT_THAT(Error(One("F4", "[3]", "[0,2]")), HasSubstr("needs 2 bytes, but"));
  for (const char* shape : {"[4611686018427387904,4]", "[4294967296,4294967296]",
                            "[9223372036854775807,9223372036854775807,2]"}) {
    EXPECT_THAT(Error(One("F32", shape, "[0,16]")), HasSubstr("more than any file can hold"));
  }
}

TEST(SafetensorsHeader, RefusesOverlaps) {
  EXPECT_EQ(Error(StrCat("{", Entry("a", "BF16", "[4]", "[0,8]"), ",",
                         Entry("b", "BF16", "[1]", "[6,8]"), "}")),
            "dir/m.safetensors: tensors \"a\" and \"b\" overlap, must lie apart from each other");
  EXPECT_THAT(Error(StrCat("{", Entry("a", "F32", "[1]", "[4,8]"), ",",
                           Entry("b", "F32", "[1]", "[4,8]"), "}")),
              HasSubstr("overlap"));
  EXPECT_TRUE(Parse(FileOf(StrCat("{", Entry("a", "F32", "[1]", "[4,8]"), ",",
                                  Entry("b", "F32", "[0]", "[6,6]"), "}"),
                           16))
                  .ok())
      << "a tensor without elements lies nowhere";
}

TEST(SafetensorsHeader, EscapesNames) {
  EXPECT_THAT(Error("{\"a\\nb\":3}"), HasSubstr("tensor \"a\\x0ab\" is number"));
}

void WriteTensors(const std::string& path, const std::vector<SafetensorsEntry>& entries) {
  auto writer = SafetensorsWriter::Create(path, entries);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  for (const SafetensorsEntry& entry : entries) {
    const std::string bytes(static_cast<size_t>(entry.shape.NumElements()) * SizeOf(entry.dtype),
                            entry.name.back());
    ASSERT_TRUE(writer->Append(std::as_bytes(std::span(bytes))).ok());
  }
  const Status finished = writer->Finish();
  ASSERT_TRUE(finished.ok()) << finished.message();
}

TEST(SafetensorsCheckpoint, ReadsWhatTheWriterWrites) {
  const TempFolder folder;
  auto writer = SafetensorsWriter::Create(
      folder.File("model.safetensors"),
      std::vector<SafetensorsEntry>{{"w", DType::kF32, {2, 3}}, {"v", DType::kBf16, {3}}});
  ASSERT_TRUE(writer.ok());
  const std::array<float, 6> w = {1, 2, 3, 4, 5, -6};
  const std::array<uint16_t, 3> v = {7, 8, 9};
  ASSERT_TRUE(writer->Append(std::as_bytes(std::span(w)).first(5)).ok());
  ASSERT_TRUE(writer->Append(std::as_bytes(std::span(w)).subspan(5)).ok());
  EXPECT_THAT(writer->Finish().message(), HasSubstr("6 bytes of tensors are missing"));
  ASSERT_TRUE(writer->Append(std::as_bytes(std::span(v))).ok());
  EXPECT_THAT(writer->Append(std::as_bytes(std::span(v))).message(), HasSubstr("at most 0 more"));
  ASSERT_TRUE(writer->Finish().ok());

  auto opened = SafetensorsCheckpoint::Open(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const SafetensorsCheckpoint checkpoint = std::move(*opened);
  EXPECT_TRUE(checkpoint.Contains("w"));
  EXPECT_FALSE(checkpoint.Contains("x"));
  const auto tensor = checkpoint.Find("w");
  ASSERT_TRUE(tensor.ok()) << tensor.status().message();
  EXPECT_EQ(Describe(*tensor), "f32 [2, 3]");
  EXPECT_EQ(std::memcmp(tensor->data, w.data(), sizeof w), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data) % 64, 0U);
  checkpoint.DropPages(*tensor);
  checkpoint.DropPages(tensor->Slice(1, 1));
  EXPECT_EQ(tensor->Row<float>(1)[2], -6);
  EXPECT_EQ(checkpoint.Find("v")->As<Bf16>()[2].bits, 9);
  const Status missing = checkpoint.Find("x").status();
  EXPECT_EQ(missing.code(), StatusCode::kNotFound);
  EXPECT_EQ(missing.message(), folder.path() + ": has no tensor \"x\"");
}

TEST(SafetensorsCheckpoint, ListsMoreThanItReads) {
  const TempFolder folder;
  std::string header = StrCat("{", Entry("i", "I64", "[1]", "[0,8]"), ",",
                              Entry("deep", "F32", "[1,1,1,1,1,1]", "[8,12]"), ",",
                              Entry("askew", "BF16", "[1]", "[13,15]"), "}");
  header.resize((header.size() + 7) / 8 * 8, ' ');
  folder.Write("model.safetensors", FileOf(header, 16));
  const auto checkpoint = SafetensorsCheckpoint::Open(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(checkpoint->tensors().size(), 3U);
  const std::array<std::pair<const char*, const char*>, 3> expected = {
      {{"i", "is I64 [1], must be F32, F16 or BF16"},
       {"deep", "must have at most 5 axes"},
       {"askew", "must start at a multiple of 2"}}};
  for (const auto& [name, message] : expected) {
    const Status status = checkpoint->Find(name).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << name;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr(StrCat(folder.File("model.safetensors"), ": tensor \"", name)),
                      HasSubstr(message)));
  }
}

TEST(SafetensorsCheckpoint, SaysWhatAFolderLacks) {
  const TempFolder folder;
  const Status none = SafetensorsCheckpoint::Open(folder.File("none")).status();
  EXPECT_EQ(none.code(), StatusCode::kNotFound);
  EXPECT_THAT(none.message(), HasSubstr("/none: no such folder"));
  const Status empty = SafetensorsCheckpoint::Open(folder.path()).status();
  EXPECT_EQ(empty.code(), StatusCode::kNotFound);
  EXPECT_THAT(empty.message(), HasSubstr("has no weights, must have model.safetensors"));
  folder.Write("model.safetensors", "");
  EXPECT_THAT(SafetensorsCheckpoint::Open(folder.path()).status().message(),
              HasSubstr("model.safetensors: the file is empty"));
}

class SafetensorsIndex : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteTensors(folder_.File("s1.safetensors"),
                 {{"a", DType::kF16, {2}}, {"hidden", DType::kF16, {2}}});
    WriteTensors(folder_.File("s2.safetensors"), {{"b", DType::kF16, {2}}});
  }
  Result<SafetensorsCheckpoint> Open(const std::string& weight_map) {
    return OpenText(StrCat("{\"metadata\":{},\"weight_map\":", weight_map, "}"));
  }
  Result<SafetensorsCheckpoint> OpenText(const std::string& text) {
    folder_.Write("model.safetensors.index.json", text);
    return SafetensorsCheckpoint::Open(folder_.path());
  }
  std::string Error(const std::string& weight_map) { return Open(weight_map).status().message(); }

  TempFolder folder_;
};

TEST_F(SafetensorsIndex, JoinsShards) {
  const auto checkpoint = Open(R"({"b": "s2.safetensors", "a": "s1.safetensors"})");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_EQ(static_cast<const char*>(checkpoint->Find("a")->data)[0], 'a');
  EXPECT_EQ(static_cast<const char*>(checkpoint->Find("b")->data)[3], 'b');
  EXPECT_EQ(checkpoint->Info("b")->file, "s2.safetensors");
  EXPECT_FALSE(checkpoint->Contains("hidden")) << "the index decides";
  checkpoint->DropPages(*checkpoint->Find("b"));
}

TEST_F(SafetensorsIndex, NamesAMissingShard) {
  EXPECT_THAT(
      Error(R"({"a": "s1.safetensors", "c": "s3.safetensors"})"),
      AllOf(HasSubstr("s3.safetensors: cannot be opened"), HasSubstr("index.json names it")));
}

TEST_F(SafetensorsIndex, NamesATensorThatItsShardLacks) {
  EXPECT_THAT(Error(R"({"a": "s1.safetensors", "b": "s1.safetensors"})"),
              HasSubstr("s1.safetensors: has no tensor \"b\", but model.safetensors.index.json"));
}

TEST_F(SafetensorsIndex, KeepsToItsFolder) {
  for (const char* name : {"../s1.safetensors", "/etc/passwd", "", ".", "..", "sub/x", "a\\\\b",
                           "s1.safetensors\\u0000", "\\u001b[2J"}) {
    EXPECT_THAT(Error(StrCat("{\"a\": \"", name, "\"}")),
                AllOf(HasSubstr("weight_map of \"a\" is \""),
                      HasSubstr("must be the name of a file in the same folder")))
        << name;
  }
}

TEST_F(SafetensorsIndex, RefusesOtherJson) {
  EXPECT_THAT(OpenText("[]").status().message(), HasSubstr("has no object weight_map"));
  EXPECT_THAT(OpenText("{}").status().message(), HasSubstr("has no object weight_map"));
  EXPECT_THAT(OpenText("{").status().message(), HasSubstr("index.json: is not JSON"));
  EXPECT_THAT(Error("[]"), HasSubstr("has no object weight_map"));
  EXPECT_THAT(Error("{}"), HasSubstr("weight_map is empty"));
  EXPECT_THAT(Error(R"({"a": 3})"), HasSubstr("weight_map of \"a\" is number"));
}

TEST(SafetensorsWriter, NamesThePathInErrors) {
  const TempFolder folder;
  EXPECT_THAT(SafetensorsWriter::Create(folder.File("no/x"), {}).status().message(),
              HasSubstr("no/x: cannot be created"));
  const std::vector<SafetensorsEntry> twice = {{"a", DType::kF32, {1}}, {"a", DType::kF32, {1}}};
  EXPECT_THAT(SafetensorsWriter::Create(folder.File("x"), twice).status().message(),
              HasSubstr("tensor \"a\" is given twice"));
}

}  // namespace
}  // namespace gdn
