// SPDX-License-Identifier: Apache-2.0
// The tokenizer of models/tiny against the ids that the `tokenizers` package gives (written by
// parity/tokenizer/make_expectations.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tokenizer/nfc.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8_assembler.h"

namespace gdn {
namespace {

constexpr int kStrings = 20500;

TEST(TokenizerExpectations, AllIdsEqualTheReferences) {
  const auto tokenizer = Tokenizer::Load(GDN_SOURCE_DIR "/models/tiny");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message();
  EXPECT_EQ(tokenizer->vocab_size(), 2048);
  std::ifstream file(GDN_SOURCE_DIR "/tests/data/tokenizer/tiny_expectations.jsonl");
  int compared = 0;
  for (std::string line; std::getline(file, line); ++compared) {
    const auto entry = nlohmann::json::parse(line);
    const auto text = entry.at(0).get<std::string>();
    const auto ids = tokenizer->Encode(text);
    ASSERT_TRUE(ids.ok()) << ids.status().message();
    ASSERT_EQ(*ids, entry.at(1).get<std::vector<int32_t>>()) << line;
    ASSERT_EQ(tokenizer->Decode(*ids, /*skip_special=*/false), ToNfc(text)) << line;

    Utf8Assembler assembler;
    std::string streamed;
    for (const int32_t id : *ids) {
      std::string bytes;
      tokenizer->AppendTokenBytes(id, /*skip_special=*/false, bytes);
      streamed += assembler.Append(bytes);
    }
    ASSERT_EQ(streamed + assembler.Flush(), ToNfc(text)) << line;
  }
  EXPECT_EQ(compared, kStrings);
}

}  // namespace
}  // namespace gdn
