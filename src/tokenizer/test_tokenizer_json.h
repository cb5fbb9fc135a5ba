// SPDX-License-Identifier: Apache-2.0
// Small tokenizer.json texts for the tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tokenizer/byte_level.h"

namespace gdn {

inline constexpr const char* kQwen35Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})"
    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr const char* kQwen3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

inline nlohmann::json SplitJson(const std::string& pattern, const char* behavior = "Isolated",
                                bool invert = false) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", pattern}}},
          {"behavior", behavior},
          {"invert", invert}};
}

inline nlohmann::json ByteLevelJson(bool add_prefix_space = false, bool use_regex = false) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", add_prefix_space},
          {"trim_offsets", false},
          {"use_regex", use_regex}};
}

inline nlohmann::json SequenceJson(std::vector<nlohmann::json> steps) {
  return {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}};
}

inline nlohmann::json AddedTokenJson(int id, const std::string& content, bool special = true) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

// Byte b has the id b; the merges (in raw bytes) make the ids from 256 on.
inline nlohmann::json TokenizerJsonOf(
    const std::vector<std::pair<std::string, std::string>>& merges = {}) {
  nlohmann::json vocab;
  for (int byte = 0; byte < 256; ++byte) {
    vocab[ToByteLevel(std::string(1, static_cast<char>(byte)))] = byte;
  }
  nlohmann::json pairs = nlohmann::json::array();
  for (const auto& [left, right] : merges) {
    pairs.push_back({ToByteLevel(left), ToByteLevel(right)});
    const std::string joined = ToByteLevel(left + right);
    if (!vocab.contains(joined)) vocab[joined] = static_cast<int>(vocab.size());
  }
  return {{"version", "1.0"},
          {"added_tokens", nlohmann::json::array()},
          {"normalizer", {{"type", "NFC"}}},
          {"pre_tokenizer", SequenceJson({SplitJson(kQwen35Pattern), ByteLevelJson()})},
          {"post_processor", ByteLevelJson()},
          {"decoder", ByteLevelJson()},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", pairs}}}};
}

}  // namespace gdn
