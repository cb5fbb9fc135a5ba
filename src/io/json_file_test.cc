// SPDX-License-Identifier: Apache-2.0
#include "io/json_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/str.h"
#include "io/temp_folder.h"

namespace gdn {
namespace {

using ::testing::HasSubstr;

std::string Nested(int depth) {
  return std::string(static_cast<size_t>(depth), '[') +
         std::string(static_cast<size_t>(depth), ']');
}

std::string Error(std::string_view text, const JsonLimits& limits = {}) {
  return ParseJson(text, "f.json", limits).status().message();
}

TEST(Json, TakesTheLastOfEqualKeys) {
  EXPECT_EQ(ParseJson(R"({"a": 1, "a": 2})", "f")->at("a"), 2);
}

TEST(Json, NamesFileAndByteOfASyntaxError) {
  EXPECT_EQ(Error("{\"a\": }"), "f.json: is not JSON at byte 7 of 7");
  EXPECT_THAT(Error(""), HasSubstr("f.json: is not JSON"));
  EXPECT_THAT(Error("{\"a\": 1} x"), HasSubstr("is not JSON at byte 10"));
  EXPECT_THAT(Error("\"\xff\""), HasSubstr("is not JSON at byte 2"));
  EXPECT_THAT(Error("1e999"), HasSubstr("f.json: holds a number that is too large"));
}

TEST(Json, RefusesANul) {
  const Result<nlohmann::json> result = ParseJson(std::string_view("{}\0{}", 5), "a.json");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().message(), "a.json: JSON holds a NUL at byte 2, want none");
}

TEST(Json, LimitsDepth) {
  EXPECT_TRUE(ParseJson(Nested(64), "f").ok());
  EXPECT_THAT(Error(Nested(65)), HasSubstr("byte 64 is nested deeper than 64"));
  EXPECT_THAT(Error(std::string(1 << 20, '[')), HasSubstr("nested deeper"));
  const std::string quoted =
      StrCat("\"", std::string(1000, '['), "\\\"", std::string(1000, '{'), "\"");
  EXPECT_TRUE(ParseJson(quoted, "f").ok()) << "brackets inside a string do not count";
}

TEST(Json, LimitsBytesAndValues) {
  JsonLimits limits;
  limits.max_bytes = 10;
  EXPECT_TRUE(ParseJson("[1,2,3,45]", "f", limits).ok());
  EXPECT_THAT(Error("[1,2,3,456]", limits), HasSubstr("has 11 B of JSON, must have at most 10 B"));
  limits.max_values = 4;
  EXPECT_TRUE(ParseJson("[1,2,3]", "f", limits).ok());
  EXPECT_THAT(Error("[1,2,3,4]", limits), HasSubstr("more than 4 values"));
}

TEST(Json, EveryCutTextIsAnErrorOrAValue) {
  const std::string text = R"({"a": [1, -2.5e3, true, null, "\u00e9\"["], "b": {"c": []}})";
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(Error(text.substr(0, size)), HasSubstr("f.json: is not JSON")) << size;
  }
}

TEST(OrderedJson, KeepsTheOrderAndTheLastOfEqualKeys) {
  const auto dumped = [](const std::string& text) {
    const auto json = ParseOrderedJson(text, "f.json");
    return json.ok() ? json->dump() : json.status().message();
  };
  EXPECT_EQ(dumped(R"({"b": [1, -2, 2.5, {"z": null, "a": true}], "a": "x"})"),
            R"({"b":[1,-2,2.5,{"z":null,"a":true}],"a":"x"})");
  EXPECT_EQ(dumped(R"({"b": 1, "a": 2, "b": {"c": 3}, "d": 4, "a": 5, "b": 6})"),
            R"({"b":6,"a":5,"d":4})");
  for (const char* const text : {"7", "\"x\"", "null", "[]", "{}", "[[],{}]"}) {
    EXPECT_EQ(dumped(text), text);
  }
  EXPECT_EQ(dumped("[1,"), "f.json: is not JSON at byte 3 of 3: it ends too early");
  EXPECT_EQ(dumped("{\"a\" 1}"), "f.json: is not JSON at byte 6 of 7");
  EXPECT_THAT(dumped("[1e999]"), HasSubstr("f.json: "));
  EXPECT_THAT(dumped("[\"\xFF\"]"), HasSubstr("f.json: is not JSON"));
}

// A quarter of a million keys; a search for each would take minutes.
TEST(OrderedJson, IsLinearInTheKeys) {
  std::string text = "{";
  for (int i = 0; i < 250000; ++i) text += StrCat(i == 0 ? "" : ",", "\"", i, "\":0");
  const auto json = ParseOrderedJson(text + "}", "f.json");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(json->size(), 250000U);
}

TEST(Json, ReadsFiles) {
  const TempFolder folder;
  EXPECT_EQ(ReadJsonFile(folder.Write("a.json", "[7]")).value()[0], 7);
  EXPECT_EQ(ReadJsonFile(folder.File("none")).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(ReadJsonFile(folder.Write("b.json", "[7")).status().message(),
              HasSubstr(folder.File("b.json") + ": is not JSON"));
}

}  // namespace
}  // namespace gdn
