// SPDX-License-Identifier: Apache-2.0
// Input: a tokenizer.json, a line "---", and a text. Both halves may be anything.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/check.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"
#include "tokenizer/utf8_assembler.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  constexpr std::string_view kBoundary = "\n---\n";
  const size_t at = input.find(kBoundary);
  const std::string_view file = input.substr(0, at);
  const std::string_view text =
      at == std::string_view::npos ? std::string_view() : input.substr(at + kBoundary.size());

  const auto tokenizer = gdn::Tokenizer::Parse(file, "tokenizer.json");
  if (!tokenizer.ok()) {
    GDN_CHECK(tokenizer.status().message().find('\n') == std::string::npos);
    return 0;
  }
  std::string valid;
  gdn::AppendLossyUtf8(text, valid);
  if (valid != text) GDN_CHECK(!tokenizer->Encode(text).ok());
  for (const bool parse_special : {true, false}) {
    const auto ids = tokenizer->Encode(valid, {.parse_special = parse_special});
    if (!ids.ok()) continue;
    gdn::Utf8Assembler assembler;
    std::string streamed;
    for (const int32_t id : *ids) {
      GDN_CHECK(id >= 0 && id < tokenizer->vocab_size());
      std::string bytes;
      tokenizer->AppendTokenBytes(id, /*skip_special=*/false, bytes);
      streamed += assembler.Append(bytes);
    }
    streamed += assembler.Flush();
    GDN_CHECK(streamed == tokenizer->Decode(*ids, /*skip_special=*/false));
  }
  return 0;
}
