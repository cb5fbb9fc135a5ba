// SPDX-License-Identifier: Apache-2.0
// Any answer with calls of tools, cut into pieces (the first byte says how), beside the same in
// one: text and calls are the same, and arguments are objects.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.h"
#include "session/tool_call.h"

namespace gdn {
namespace {

using Json = nlohmann::ordered_json;

void Take(const ToolCallSplitter::Parts& parts, ToolCallSplitter::Parts& out) {
  out.text += parts.text;
  out.calls.insert(out.calls.end(), parts.calls.begin(), parts.calls.end());
}

ToolCallSplitter::Parts Split(std::string_view bytes, size_t piece) {
  static const auto tools = std::make_shared<const Json>(Json::parse(
      R"([{"function": {"name": "f", "parameters": {"properties": {"s": {"type": "string"},
          "n": {"type": ["number", "null"]}, "b": {"anyOf": [{"type": "boolean"}]}}}}}])"));
  ToolCallSplitter splitter(tools);
  ToolCallSplitter::Parts out;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    Take(splitter.Append(bytes.substr(at, piece)), out);
  }
  Take(splitter.Flush(), out);
  return out;
}

bool IsSame(const ToolCall& a, const ToolCall& b) {
  return a.name == b.name && a.arguments == b.arguments;
}

}  // namespace
}  // namespace gdn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto cut = gdn::Split(bytes, size_t{1} + data[0] % 16);
  const auto whole = gdn::Split(bytes, std::max<size_t>(bytes.size(), 1));
  GDN_CHECK(cut.text == whole.text);
  GDN_CHECK(std::ranges::equal(cut.calls, whole.calls, gdn::IsSame));
  for (const gdn::ToolCall& call : whole.calls) {
    GDN_CHECK(!call.name.empty() && gdn::Json::parse(call.arguments).is_object());
  }
  return 0;
}
