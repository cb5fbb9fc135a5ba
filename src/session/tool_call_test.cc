// SPDX-License-Identifier: Apache-2.0
#include "session/tool_call.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

const Json kTools = Json::parse(R"([
  {"type": "function", "function": {"name": "weather", "parameters": {"type": "object",
    "properties": {
      "city": {"type": "string"}, "days": {"type": "integer"}, "celsius": {"type": "boolean"},
      "places": {"type": "array"}, "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
      "limit": {"type": ["number", "null"]}, "unit": {"enum": ["K", "C"]}}}}},
  {"name": "bare", "parameters": {"properties": {"n": {"type": "number"}}}}])");

std::string Arguments(std::string_view text) {
  const std::optional<ToolCall> call = ParseToolCall(text, kTools);
  return call.has_value() ? call->arguments : "no call";
}

TEST(ParseToolCall, OfJson) {
  const auto call = ParseToolCall(R"(
{"name": "weather", "arguments": {"city": "Köln", "days": 3}}
)",
                                  kTools);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->name, "weather");
  EXPECT_EQ(call->arguments, R"({"city":"Köln","days":3})");
  EXPECT_EQ(Arguments(R"({"name": "f"})"), "{}");
  EXPECT_EQ(Arguments(R"({"name": "f", "arguments": "{\"a\": 1}"})"), R"({"a": 1})");
  for (const char* text :
       {"", "{}", "[]", R"({"name": 5})", R"({"name": ""})", R"({"name": "f")", "weather(city)"}) {
    EXPECT_EQ(Arguments(text), "no call") << text;
  }
}

TEST(ParseToolCall, OfTags) {
  const auto call = ParseToolCall(
      "\n<function=weather>\n<parameter=city>\nBad Ems\n</parameter>\n<parameter=days>\n3\n"
      "</parameter>\n</function>\n",
      kTools);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->name, "weather");
  EXPECT_EQ(call->arguments, R"({"city":"Bad Ems","days":3})");
  EXPECT_EQ(Arguments("<function=weather></function>"), "{}");
  EXPECT_EQ(Arguments("<function=bare><parameter=n>2.5</parameter></function>"), R"({"n":2.5})");
  for (const char* text : {"<function=>", "<function=f", "<function=a\nb></function>",
                           "<function=f><parameter=a</function>"}) {
    EXPECT_EQ(Arguments(text), "no call") << text;
  }
}

TEST(ParseToolCall, ValuesHaveTheTypesOfTheSchema) {
  const auto value = [](const std::string& name, const std::string& text) {
    const std::string arguments =
        Arguments("<function=weather><parameter=" + name + ">" + text + "</parameter></function>");
    return Json::parse(arguments)[name].dump();
  };
  EXPECT_EQ(value("city", "5"), R"("5")");
  EXPECT_EQ(value("city", "null"), R"("null")");
  EXPECT_EQ(value("city", "\n a\n\nb \n"), R"(" a\n\nb ")");
  EXPECT_EQ(value("days", "three"), R"("three")");
  EXPECT_EQ(value("celsius", "True"), "true");
  EXPECT_EQ(value("celsius", "false"), "false");
  EXPECT_EQ(value("places", R"(["a", {"b": 1}])"), R"(["a",{"b":1}])");
  EXPECT_EQ(value("note", "null"), "null");
  EXPECT_EQ(value("note", "1"), R"("1")");
  EXPECT_EQ(value("limit", "null"), "null");
  EXPECT_EQ(value("limit", "1"), "1");
  EXPECT_EQ(value("unit", "K"), R"("K")");
  EXPECT_EQ(value("nobody knows it", "1"), R"("1")");
}

TEST(ParseToolCall, TagsThatAreNotClosedEndWithTheNext) {
  EXPECT_EQ(
      Arguments("<function=weather>\n<parameter=city>\nUlm\n<parameter=days>\n2\n</function>"),
      R"({"city":"Ulm","days":2})");
  EXPECT_EQ(Arguments("<function=weather><parameter=city>Ulm"), R"({"city":"Ulm"})");
}

TEST(ParseToolCall, ManyArgumentsAreNoCall) {
  std::string text = "<function=f>";
  for (int i = 0; i < 100'000; ++i) text += "<parameter=p" + std::to_string(i) + ">1";
  EXPECT_EQ(Arguments(text), "no call");
  EXPECT_EQ(Arguments(std::string(100'000, '[')), "no call");
}

// text "|" calls, as name and arguments each.
std::string Split(const std::vector<std::string>& pieces) {
  ToolCallSplitter splitter(std::make_shared<const Json>(kTools));
  std::string text;
  std::string calls;
  const auto take = [&](const ToolCallSplitter::Parts& parts) {
    text += parts.text;
    for (const ToolCall& call : parts.calls) calls += call.name + call.arguments;
  };
  for (const std::string& piece : pieces) take(splitter.Append(piece));
  take(splitter.Flush());
  return text + "|" + calls;
}

constexpr const char* kF = R"(<tool_call>{"name": "f"}</tool_call>)";

TEST(ToolCallSplitter, TakesCallsOutOfText) {
  EXPECT_EQ(Split({"text"}), "text|");
  EXPECT_EQ(Split({"text \n"}), "text \n|");
  EXPECT_EQ(Split({kF}), "|f{}");
  EXPECT_EQ(Split({"text\n\n", kF, "\n", kF, "\n"}), "text|f{}f{}");
  EXPECT_EQ(Split({kF, "\nmore ", kF, " end "}), "more end |f{}f{}");
  EXPECT_EQ(Split({"a <tool_ b <", "tool_cal"}), "a <tool_ b <tool_cal|");
}

TEST(ToolCallSplitter, WhatIsNoCallStaysText) {
  EXPECT_EQ(Split({"a <tool_call>b</tool_call> c"}), "a <tool_call>b</tool_call> c|");
  EXPECT_EQ(Split({"<tool_call>\n<tool_call>"}), "<tool_call>\n<tool_call>|");
  EXPECT_EQ(Split({"<tool_call>{\"name\": \"f\", "}), "<tool_call>{\"name\": \"f\", |");
}

TEST(ToolCallSplitter, TheLastCallMayLackItsEnd) {
  EXPECT_EQ(Split({"a\n<tool_call>\n{\"name\": \"f\"}\n"}), "a|f{}");
}

TEST(ToolCallSplitter, RandomPieces) {
  const std::string whole =
      std::string("so:\n") + kF + "\n" + kF + " <tool_call>x</tool_call>\n\ny";
  const std::string expected = Split({whole});
  EXPECT_EQ(expected, "so:\n<tool_call>x</tool_call>\n\ny|f{}f{}");
  Rng rng(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> pieces;
    for (size_t at = 0; at < whole.size();) {
      const size_t count = 1 + static_cast<size_t>(rng.NextBelow(9));
      pieces.push_back(whole.substr(at, count));
      at += count;
    }
    ASSERT_EQ(Split(pieces), expected);
  }
}

}  // namespace
}  // namespace gdn
