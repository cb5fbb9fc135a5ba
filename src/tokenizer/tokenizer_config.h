// SPDX-License-Identifier: Apache-2.0
// The parts of a tokenizer.json other than the vocabulary, checked and typed.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/status.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/pre_tokenizer.h"

namespace gdn {

struct FileAddedToken {
  AddedToken token;
  bool special;
};

// What TemplateProcessing puts around every text.
struct Template {
  std::vector<int32_t> before;
  std::vector<int32_t> after;
};

struct TokenizerConfig {
  bool nfc = false;
  bool ignore_merges = false;
  PreTokenizer pre_tokenizer;
  Template surround;
  std::vector<FileAddedToken> added_tokens;
};

// Errors start with the field's path: "normalizer.type is "Lowercase", must be ...".
Result<TokenizerConfig> ReadTokenizerConfig(const nlohmann::json& tree);

}  // namespace gdn
