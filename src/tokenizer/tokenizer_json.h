// SPDX-License-Identifier: Apache-2.0
// The text of a tokenizer.json, read in one pass: the vocabulary and the merges as flat lists (half
// a million entries in a real file), everything else as a small tree.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace gdn {

inline constexpr int32_t kMaxTokenId = (1 << 22) - 1;
inline constexpr size_t kMaxMerges = size_t{1} << 22;

struct TokenizerJson {
  nlohmann::json tree;  // the file without model.vocab and model.merges
  std::vector<std::pair<std::string, int32_t>> vocab;       // ids in [0, kMaxTokenId]
  std::vector<std::pair<std::string, std::string>> merges;  // highest priority first
  bool has_vocab = false;
  bool has_merges = false;
};

// Errors name file_name: not JSON, nested too deep, too many values, an id that is no integer or
// out of range, a merge that is not two strings. Whatever the text, no more than a small multiple
// of its size is allocated and nothing recurses.
Result<TokenizerJson> ParseTokenizerJson(std::string_view text, const std::string& file_name);

}  // namespace gdn
